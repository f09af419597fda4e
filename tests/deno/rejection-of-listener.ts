// flags:
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  throw new RangeError("in the listener");
});
Promise.reject(new Error("first"));
setTimeout(() => console.log("never"), 1000);
