// flags:
addEventListener("error", (event) => {
  console.log(event.type, event.error instanceof Error, (event.error as Error).message, event.message);
  event.preventDefault();
});
reportError(new Error("reported"));
setTimeout(() => {
  throw new TypeError("in a timer");
}, 1);
setTimeout(() => console.log("goes on"), 20);
