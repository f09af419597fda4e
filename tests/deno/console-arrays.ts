// flags:
console.log([1, 2, 3], ["a"], [[]], [[1, [2, [3, [4]]]]]);
console.log([1, , 3]);
console.log(new Array(3));
console.log([undefined, null]);
console.log(Object.assign([1, 2], { extra: true }));
console.log([{ a: 1 }, { b: 2 }]);
