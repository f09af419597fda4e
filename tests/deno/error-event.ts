// flags:
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  console.log("heard", (event as ErrorEvent).error.message);
});
setTimeout(() => {
  throw new Error("quiet");
}, 1);
setTimeout(() => console.log("goes on"), 10);
