// flags: --allow-import=example.com
// stricter: D14
// says: import
console.log("runs");
