// flags:
console.log([1, 2, 3].at(-1), Object.groupBy([1, 2, 3], (n) => (n % 2 ? "odd" : "even")), [3, 1, 2].toSorted());
console.log(new Set([1, 2]).union(new Set([2, 3])), Promise.withResolvers !== undefined, "a-b".replaceAll("-", "+"));
console.log([..."a1b2".matchAll(/\d/g)].map((match) => match[0]), structuredClone([1]), Array.from(new Map([[1, 2]])));
label: for (const a of [1, 2]) for (const b of [1, 2]) if (b === 2) continue label; else console.log(a, b);
console.log(new Intl.NumberFormat("en-US").format(1234567.891), new Date(0).toISOString(), (12.345).toFixed(1));
console.log(JSON.stringify({ a: [undefined, () => 1, NaN], b: undefined, c: new Date(0) }), 0.1 + 0.2, 2n ** 64n);
