// flags:
console.log((function (this: unknown) {
  return this;
})());
try {
  Object.freeze([1]).push(2);
} catch (error) {
  console.log((error as Error).name);
}
try {
  (0, eval)("undeclared_name");
} catch (error) {
  console.log((error as Error).name);
}
console.log(typeof eval("1 + 1"), new Function("return 3")());
