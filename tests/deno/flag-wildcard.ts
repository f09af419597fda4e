// flags: --allow-net=*.com
// stricter: D15
// says: too wide
console.log("runs");
