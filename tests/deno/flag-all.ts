// flags: -A
// stricter: D14
// says: all
console.log("runs");
