// flags:
setTimeout(() => console.log("timer"), 0);
queueMicrotask(() => console.log("microtask"));
addEventListener("unhandledrejection", (event) => {
  console.log("heard", (event.reason as Error).message);
  event.preventDefault();
});
void (async () => {
  await null;
  throw new Error("late");
})();
console.log("first");
