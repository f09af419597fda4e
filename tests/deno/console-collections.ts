// flags:
console.log(new Map([["a", 1], ["b", 2]]));
console.log(new Map([[{ k: 1 }, new Set([1])]]));
console.log(new Set(["a", 2, { c: 3 }]));
console.log(new Map(), new Set());
console.log(new WeakMap(), new WeakSet());
console.log(new Uint8Array([1, 2, 3]), new Float64Array([1.5, -0]));
console.log(new ArrayBuffer(4));
