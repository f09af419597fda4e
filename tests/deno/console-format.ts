// flags:
console.log("%s is %d years and %i days, %f", "Ann", 42.5, 3.9, "1.25");
console.log("%o %O", { a: 1 }, { b: 2 });
console.log("%j", { a: [1] });
console.log("100%", 5, "%%", "%s");
console.log("%s", null, "rest", { a: 1 });
console.log("%c styled", "color: red");
console.log("%x", 1);
console.log("%s %s", "only one");
