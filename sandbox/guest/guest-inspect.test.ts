import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, printedByDeno } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

/** Runs the lines in both, each alone so that one difference is one line of the report. */
async function sameAsDeno(lines: readonly string[]): Promise<void> {
  const source = lines.map((line, index) => `console.log("-- ${index}");\n{ ${line} }`).join("\n");
  const split = (text: string) =>
    text
      .split(/^-- \d+\n/m)
      .slice(1)
      .map((part, index) => `${lines[index]}\n${part}`);
  expect(split(await room.printed(source))).toEqual(split(await printedByDeno(room.folder, source)));
}

const ERROR =
  "const e = (error) => Object.assign(error, { stack: String(error.stack).split('\\n')[0] + '\\n    at foo (file:///x.ts:1:1)' });";

test("values are written as Deno writes them", async () => {
  const values = [
    "undefined",
    "null",
    "true",
    "-0",
    "1.5",
    "10n",
    '"text"',
    'Symbol("s")',
    "NaN",
    '["a\\nb", "it\'s", \'q"\', "`\'\\"", "a\\\\b", "\\x00\\x7f", "é😀"]',
    "{}",
    "[]",
    "[[]]",
    "[{}]",
    "{ a: [], b: {} }",
    '{ a: 1, $x: 1, "a-b": 2, 1: 2, [Symbol("s")]: 3, "": 4, _u: 5 }',
    "{ undefined, null: null, nan: NaN, inf: Infinity }",
    "{ get a() { return 1; }, set a(v) {}, get b() { return 1; }, set c(v) {} }",
    "Object.create(null)",
    "Object.create({ x: 1 })",
    "Object.assign(Object.create(null), { a: 1 })",
    "new (class F { a = 1 })()",
    "new (class G { #hidden = 1 })()",
    "{ [Symbol.toStringTag]: 'T', a: 1 }",
    "new (class Z { get [Symbol.toStringTag]() { return 'ZZ'; } })()",
    "Math",
    "JSON",
    "globalThis.Intl",
    "class A {}",
    "class B extends Map {}",
    "class extends Array {}",
    "function () {}",
    "function named() {}",
    "async () => {}",
    "function* g() {}",
    "async function* h() {}",
    "Object.assign(function f() {}, { a: 1 })",
    "{ f() {}, g: () => {}, async h() {}, C: class {} }",
    "(class { static s = 1 })",
    "[1, , 3]",
    "[, , , ]",
    "new Array(3)",
    "Object.assign([1, 2], { x: 1 })",
    "new (class L extends Array {})(1, 2)",
    "Array(200).fill(7)",
    "Array.from({ length: 120 }, (_, i) => i * i)",
    "Array.from({ length: 30 }, (_, i) => 'item' + i)",
    '[..."abcdefghijklmnopqrstuvwxyz"]',
    "Array.from({ length: 8 }, (_, i) => ({ i }))",
    "Array.from({ length: 101 }, () => 'x')",
    "['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg', 'hhhhhhhh']",
    "[1, 'a', 2, 'b', 3, 'c', 4, 'd', 5]",
    "['日本', '語', 'a', 'b', 'c', 'd', 'e']",
    "[1.25, -3, 1000, 2, 3, 4, 5, 66, 7]",
    "[[1, 2, [3, 4, [5, [6, [7]]]]]]",
    "new Set()",
    "new Map()",
    'new Set([1, "a", { b: 1 }])',
    'new Map([["a", 1], [{ b: 1 }, [1, 2]]])',
    "new Map([[{ a: 1 }, new Set([[1]])]])",
    "new (class Foo extends Map {})([[1, 2]])",
    "new Set(Array.from({ length: 120 }, (_, i) => i))",
    "new WeakMap()",
    "new WeakSet()",
    "new Promise(() => {})",
    "new Date(0)",
    "[new Date(NaN)]",
    "/a/g",
    "[/b/]",
    "new Number(3)",
    'new String("ab")',
    "Object(1n)",
    'Object(Symbol("q"))',
    "new Boolean(false)",
    "new Uint8Array(3)",
    "new Float64Array([1.5, -0])",
    "new BigInt64Array(2)",
    "new ArrayBuffer(4)",
    "new DataView(new ArrayBuffer(2))",
    "new Uint8Array(120)",
    "new Uint8Array(0)",
    "(function () { return arguments; })(1, 2)",
    "new Proxy({ a: 1 }, {})",
    "{ a: { b: { c: { d: { e: { f: 1 } } } } } }",
    "{ a: { b: { c: {} } } }",
    "{ k: { k: { k: { k: 1 } } } }",
    "{ a: { b: { c: { d: 1 } } }, z: 1 }",
    "[[[[[[1]]]]]]",
    "{ a: [1, 2, { b: [3, [4, [5, [6]]]] }] }",
    "[{ a: 1, b: { c: [1, 2, { d: 1 }] } }]",
    '{ a: "x".repeat(120) }',
    '["x".repeat(50), "y".repeat(50)]',
    '[["x".repeat(30), "y".repeat(30)], ["z".repeat(30)]]',
    '{ s: "a".repeat(10) + "\\n" + "b".repeat(90) }',
    'Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["k" + i, i]))',
    '{ long: "a".repeat(60), more: "b".repeat(20) }',
    "{ a: 1, b: 'two', c: [3], d: { e: 4 }, f: null, g: undefined, h: true }",
    "new URL('http://u@a.b:8/c?d=e#f')",
    "new URLSearchParams('a=1&b=2')",
    "new Headers({ b: '2', A: '1' })",
    "[1, 2, 3].entries()",
  ];
  await sameAsDeno(values.map((value) => `console.log((${value}));`));
});

test("values that hold themselves are numbered as Deno numbers them", async () => {
  await sameAsDeno([
    "const c = { n: 1 }; c.self = c; c.list = [c]; console.log(c);",
    "const a = []; a.push(a); console.log(a);",
    "const m = new Map(); m.set(m, m); console.log(m);",
    "const a = {}; const b = { a }; a.b = b; console.log(a, b, [a, b]);",
  ]);
});

test("errors are written as Deno writes them", async () => {
  await sameAsDeno(
    [
      'console.log(e(new Error("m")));',
      'class Mine extends Error { constructor(m) { super(m); this.name = "Mine"; this.code = 5; } } console.log(e(new Mine("m")), [e(new Mine("in"))]);',
      'class Odd extends TypeError {} console.log(e(new Odd("odd")));',
      'console.log({ e: e(new Error("in")) }, [[e(new Error("deep"))]]);',
      'console.log(e(new Error("outer", { cause: e(new Error("c")) })), e(new Error("o", { cause: { a: 1 } })));',
      'console.log({ e: e(new Error("o", { cause: e(new Error("i")) })) });',
      'console.log(e(new AggregateError([e(new Error("1")), e(new TypeError("2"))], "agg")));',
      'const n = new Error("gone"); n.stack = undefined; console.log(n, [n]);',
      'const n = new Error("s"); delete n.stack; console.log(n);',
      'const x = e(new Error("x")); x.name = "Other"; console.log(x);',
      'const x = e(new TypeError("x")); x.message = "changed"; console.log(x);',
      'const x = e(new Error("x")); x.self = x; console.log(x);',
      'const x = e(new Error("x")); x.cause = x; console.log(x);',
      'console.log(e(new DOMException("dm", "AbortError")));',
      'console.log(e(new Error("more\\nlines")));',
      'console.log(e(new Deno.errors.NotFound("nf")));',
    ].map((line) => `${ERROR} ${line}`),
  );
});

test("format strings are filled as Deno fills them", async () => {
  await sameAsDeno([
    'console.log("%s|%d|%i|%f|%o|%O|%j|%c|%%|%x", "a", "12.5", "12.5", "1.5", { a: 1 }, { b: [1] }, { j: 1 }, "css", "rest", { z: 1 });',
    'console.log("%d %d %d %d %d %d", 12.5, "12.5", -0, "abc", 5n, true);',
    'console.log("%i %i %i %i", 12.5, "12.9px", 5n, "x");',
    'console.log("%f %f %f", "1.5px", 2n, -0);',
    'console.log("%s %s %s %s", null, undefined, true, Symbol("q"));',
    'console.log("%s", { toString() { return "TS"; } }, "%s", -0);',
    'console.log("%s %s", "one");',
    'console.log("100%", 5, "%s");',
    'console.log("%%", 1); console.log("%%"); console.log("a%%b");',
    'console.log("%s", class A {}, function () {});',
    "console.log(); console.log(''); console.log(1, '%s', 2);",
    'console.log("a", "b", 1, { s: "q" }, ["x"]);',
  ]);
});

test("tables, groups, counts and dirs are Deno's", async () => {
  await sameAsDeno([
    'console.table([{ a: 1, b: "x" }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]); console.table({ r: { x: 1 }, q: { x: 2 } });',
    'console.table([1, "a", { b: 1 }]); console.table(new Map([["k", { v: 1 }]])); console.table(new Set([1, 2]));',
    'console.table([{ a: 1, b: 2 }], ["b"]); console.table(5); console.table("x"); console.table([]); console.table(null);',
    'console.table([1.5, -3, 1000]); console.table([1, "", 33]); console.table(["日本"]); console.table([function f() {}]); console.table([new Date(0)]);',
    'console.table([{ a: 100n, b: undefined, c: null }, { a: 1n }]); console.table({ a: "x\\ny" }); console.table([[1, [2, [3]]]]);',
    'console.group("G"); console.log("in\\nside"); console.group(); console.log({ a: 1 }); console.groupEnd(); console.groupEnd(); console.log("out");',
    'console.count(); console.count("x"); console.count(); console.countReset(); console.count();',
    "console.dir({ a: { b: { c: { d: { e: { f: 1 } } } } } }, { depth: 1 }); console.dirxml({ a: 1 }); console.info('i'); console.debug('d');",
  ]);
});

test("Deno.inspect takes Deno's options", async () => {
  const calls = [
    "{ a: 1, b: { c: 2 } }, { compact: false }",
    '"q"',
    "{ b: 1, a: 2 }, { sorted: true }",
    "{ a: [1, 2] }, { trailingComma: true, compact: false }",
    "{ a: { b: 1 } }, { depth: 0 }",
    "{ a: { b: { c: { d: { e: { f: 1 } } } } } }, { depth: Infinity }",
    "[1, 2, 3], { iterableLimit: 2 }",
    "{ get a() { return 1; } }, { getters: true }",
    '"x".repeat(30), { strAbbreviateSize: 10 }',
    "{ a: 'x'.repeat(30), b: 'y'.repeat(30) }, { breakLength: 40 }",
    'new (class { [Symbol.for("Deno.customInspect")](inspect) { return "custom " + inspect({ a: 1 }); } })()',
    '[new (class { [Symbol.for("Deno.customInspect")]() { return "custom"; } })()]',
  ];
  await sameAsDeno(calls.map((call) => `console.log(Deno.inspect(${call}));`));
});

test("warnings, errors, assertions and traces go to stderr, and a text of any length is cut into pieces", async () => {
  const { said } = await room.run(`
    console.warn("w"); console.error("e"); console.assert(true); console.assert(false, "msg %d", 5); console.assert(false, { a: 1 });
    console.timeEnd("none"); console.countReset("none"); console.trace("here"); console.log("x".repeat(200_000));`);
  const logs = said.flatMap((word) => (word.k === "log" ? [word] : []));
  expect(logs.filter(({ to }) => to === "stderr").map(({ text }) => text)).toEqual([
    "w\n",
    "e\n",
    "Assertion failed: msg 5\n",
    "Assertion failed: { a: 1 }\n",
    "Timer 'none' does not exist\n",
    "Count for 'none' does not exist\n",
    "Trace: here\n    at eval (clawd:guest:3:66)\n",
  ]);
  const out = logs.filter(({ to }) => to === "stdout");
  expect(out.length).toBe(4);
  expect(out.map(({ text }) => text).join("")).toBe(`${"x".repeat(200_000)}\n`);
});

test("an object as large as it is deep is not written in full", async () => {
  const printed = await room.printed(`
    const wide = (depth) => depth === 0 ? "text" : Array.from({ length: 30 }, () => wide(depth - 1));
    console.log(wide(4));`);
  expect(printed.length).toBeLessThan(4 * 1024 * 1024);
  expect(printed).toContain("[Array]");
});
