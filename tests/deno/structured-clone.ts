// flags:
const value: Record<string, unknown> = {
  date: new Date(5), map: new Map([[1, { a: 2 }]]), set: new Set(["x"]), pattern: /a/g,
  bytes: new Uint8Array([1, 2]), nested: [1, [2, undefined, null]], big: 5n, nothing: undefined,
};
value.self = value;
const copy = structuredClone(value);
console.log(copy);
console.log(copy !== value, copy.self === copy, copy.map !== value.map, (copy.date as Date).getTime());
const failure = structuredClone(new RangeError("r"));
console.log(failure instanceof RangeError, failure.message);
