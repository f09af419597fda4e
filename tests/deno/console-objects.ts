// flags:
console.log({ a: 1, b: "two", c: [3, { d: 4 }] });
console.log({});
console.log([]);
console.log({ "odd key": 1, valid_key: 2, 3: 4, [Symbol("s")]: 5 });
console.log({ deep: { deeper: { deepest: { hidden: 1 } } } });
console.log({ nothing: null, missing: undefined });
console.log(Object.create(null));
console.log(Object.assign(Object.create(null), { a: 1 }));
