// flags: --allow-sys=passwd
// refused:
console.log("never");
