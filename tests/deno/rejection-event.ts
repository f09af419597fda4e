// flags:
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  console.log("heard", event.reason.message);
});
Promise.reject(new Error("quiet"));
setTimeout(() => console.log("goes on"), 5);
