// flags:
const ring: Record<string, unknown> = { name: "ring" };
ring.self = ring;
console.log(ring);
const list: unknown[] = [1];
list.push(list);
console.log(list);
const a: Record<string, unknown> = {};
const b = { a };
a.b = b;
console.log(a);
