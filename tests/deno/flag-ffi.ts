// flags: --allow-ffi
// stricter: D14
// says: ffi
console.log("runs");
