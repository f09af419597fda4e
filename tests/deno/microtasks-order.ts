// flags:
const said: string[] = [];
(async () => {
  said.push("a1");
  await null;
  said.push("a2");
  await null;
  said.push("a3");
})();
(async () => {
  said.push("b1");
  await null;
  said.push("b2");
})();
queueMicrotask(() => said.push("q"));
said.push("sync");
await new Promise<void>((resolve) => setTimeout(resolve, 0));
console.log(said.join(" "));
