// flags:
queueMicrotask(() => {
  throw new TypeError("in a microtask");
});
setTimeout(() => console.log("never"), 1000);
