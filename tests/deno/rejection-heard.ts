// flags:
const thrown = new TypeError("nobody waits");
addEventListener("unhandledrejection", (event) => {
  console.log(event.type, event.cancelable, event.promise instanceof Promise, event.reason === thrown, `${event.reason}`);
  if (event.reason !== "stop") event.preventDefault();
});
Promise.reject(thrown);
await new Promise((resolve) => setTimeout(resolve, 5));
for (const reason of [5n, 1.5, null, undefined, true, "text"]) {
  void (async () => {
    throw reason;
  })();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
Promise.reject("stop");
setTimeout(() => console.log("never"), 1000);
