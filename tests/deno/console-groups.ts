// flags:
console.log("outside");
console.group("first");
console.log("inside");
console.group();
console.log("two\nlines");
console.groupEnd();
console.groupEnd();
console.groupEnd();
console.log("outside again");
