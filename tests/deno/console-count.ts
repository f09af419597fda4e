// flags:
console.count();
console.count();
console.count("x");
console.countReset("x");
console.count("x");
