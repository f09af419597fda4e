import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, valuesInNode } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

async function sameAsNode(expressions: readonly string[]): Promise<void> {
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
}

/** Says what a value is in a way that JSON can carry. */
const SHOW = `(function show(value) {
  const kind = Object.prototype.toString.call(value);
  if (typeof value === "bigint") return value + "n";
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value) + typeof value;
  if (value instanceof Map) return [kind, ...[...value].map(([key, item]) => [show(key), show(item)])];
  if (value instanceof Set) return [kind, ...[...value].map(show)];
  if (value instanceof Date) return [kind, value.getTime()];
  if (value instanceof RegExp) return [kind, value.source, value.flags, value.lastIndex];
  if (value instanceof Error) return [kind, value.constructor.name, value.name, value.message, "cause" in value ? show(value.cause) : ""];
  if (value instanceof ArrayBuffer) return [kind, ...new Uint8Array(value)];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return [kind, value.byteOffset, value.buffer.byteLength, ...[...value].map(String)];
  if (Object(value) !== value || "valueOf" in value && typeof value.valueOf() !== "object") return [kind, show(value.valueOf())];
  return [kind, Object.getPrototypeOf(value) === Object.prototype, value.length, Reflect.ownKeys(value).map((key) => [String(key), Object.getOwnPropertyDescriptor(value, key).writable, show(value[key])])];
})`;

const VALUES = [
  "undefined",
  "null",
  "-0",
  "NaN",
  "10n",
  '"text"',
  "{ a: 1, b: { c: [1, , 3] } }",
  "Object.create({ inherited: 1 }, { own: { value: 1 }, seen: { value: 2, enumerable: true } })",
  "new Date(5)",
  "new Date(NaN)",
  "/a+/giu",
  "Object.assign(/a/g, { lastIndex: 3 })",
  'new Map([["k", new Map([[{ a: 1 }, 2]])]])',
  'new Set([1, "a", new Set([-0])])',
  "new Boolean(false)",
  "new Number(-0)",
  'new String("ab")',
  "Object(5n)",
  "new Error('m')",
  "new TypeError('m', { cause: { a: 1 } })",
  "new (class Mine extends RangeError {})('m')",
  "Object.assign(new Error('m'), { name: 'Odd', extra: 1 })",
  "new Uint8Array([1, 2, 3]).subarray(1)",
  "new Float64Array([1.5])",
  "new BigUint64Array([7n])",
  "new Uint8Array([1, 2]).buffer",
  "new (class Point { x = 1; get y() { return 2; } })()",
  "{ get a() { return 7; } }",
  "{ ['__proto__']: 1 }",
  "[1, , 3]",
  "Object.assign([1], { extra: 2 })",
  "new Proxy({ a: 1 }, {})",
];
const REFUSED = [
  "() => {}",
  "Symbol('s')",
  "{ a() {} }",
  "[Symbol.iterator]",
  "Promise.resolve()",
  "new WeakMap()",
  "new WeakSet()",
  "new WeakRef({})",
  "{ get a() { throw new RangeError(); } }",
];

test("structuredClone gives what Node's gives", async () => {
  // Node refuses a proxy, and a guest cannot tell one.
  const asInNode = VALUES.filter((value) => !value.startsWith("new Proxy"));
  await sameAsNode(asInNode.map((value) => `${SHOW}(structuredClone(${value}))`));
});

test("what cannot be cloned is refused by the same error", async () => {
  await sameAsNode([
    ...REFUSED.map((value) => `structuredClone(${value})`),
    "(() => { try { structuredClone(() => {}); } catch (error) { return [error.name, error.code, error instanceof DOMException, error.message]; } })()",
  ]);
});

test("the shape of references stays", async () => {
  await sameAsNode([
    "((a) => { a.self = a; a.list = [a]; const b = structuredClone(a); return [b !== a, b.self === b, b.list[0] === b]; })({})",
    "((m) => { m.set(m, m); const n = structuredClone(m); return [n.get(n) === n, n.size]; })(new Map())",
    "((s) => { s.add(s); const n = structuredClone(s); return n.has(n); })(new Set())",
    "((x) => { const c = structuredClone([x, x]); return c[0] === c[1] && c[0] !== x; })({})",
    "((buffer) => { const c = structuredClone([new Uint8Array(buffer), new DataView(buffer, 1)]); c[0][1] = 9; return c[1].getUint8(0); })(new ArrayBuffer(4))",
    "((e) => { e.cause = e; const c = structuredClone(e); return c.cause === c; })(new Error('m'))",
  ]);
});

test("buffers can be moved", async () => {
  await sameAsNode([
    "((b) => { const c = structuredClone({ b }, { transfer: [b] }); return [c.b.byteLength, b.byteLength, b.detached]; })(new ArrayBuffer(8))",
    "((b) => { const c = structuredClone(new Uint8Array(b), { transfer: [b] }); return [...c, b.byteLength]; })(new Uint8Array([1, 2]).buffer)",
    "((b) => structuredClone(b, { transfer: [b, b] }))(new ArrayBuffer(8))",
    "((b) => { try { structuredClone({ b, f() {} }, { transfer: [b] }); } catch (error) { return [error.name, b.byteLength]; } })(new ArrayBuffer(8))",
    "structuredClone({}, { transfer: [{}] })",
  ]);
});
