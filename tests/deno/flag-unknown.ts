// flags: --allow-raed=.
// refused:
console.log("never");
