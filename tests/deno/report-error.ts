// flags:
console.log("before");
reportError(new RangeError("reported"));
setTimeout(() => console.log("never"), 1000);
