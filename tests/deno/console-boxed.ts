// flags:
console.log([new String("s"), new Number(1), new Boolean(false), Object(1n), Object(Symbol("q"))]);
console.log([function () {}, async function named() {}]);
(function (..._: unknown[]) {
  console.log(arguments);
})(1, 2);
console.log(globalThis === self, typeof globalThis);
console.log([new Proxy({ a: 1 }, {})]);
