// flags: --allow-read=
// refused:
console.log("never");
