// flags:
setTimeout(() => console.log("before"), 0);
setTimeout(() => {
  throw new RangeError("in a timer");
}, 5);
setTimeout(() => console.log("never"), 1000);
