// flags:
const said: string[] = [];
setTimeout(() => said.push("200"), 200);
setTimeout(() => said.push("0a"), 0);
setTimeout(() => said.push("1"), 1);
setTimeout(() => said.push("100"), 100);
setTimeout(() => said.push("0b"));
queueMicrotask(() => said.push("micro"));
Promise.resolve().then(() => said.push("then"));
said.push("now");
await new Promise((resolve) => setTimeout(resolve, 400));
console.log(said.join(" "));
