// flags:
console.log(new Date(0), [new Date(86_400_000)]);
console.log(/a+b/gi, [/x/]);
console.log(new Date(NaN));
console.log([Symbol.iterator, Symbol("x")]);
console.log([new Promise(() => {})], new Promise(() => {}));
