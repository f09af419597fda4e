import type { EscapeCase } from "../escape-case.ts";

const STOPPED = /200 ms|running time|process|memory|no answer/;

function wedging(name: string, body: string, more: Partial<EscapeCase> = {}): EscapeCase {
  return { name, body, sees: STOPPED, ...more };
}

export const CPU: readonly EscapeCase[] = [
  wedging("loops for ever", `for (;;);`),
  wedging("loops in promises", `const f = () => Promise.resolve().then(f); await f();`),
  wedging("loops in finally blocks", `for (;;) { try { throw 1 } catch { continue } finally { continue } }`),
  wedging(
    "loops in generators and iterators",
    `function* f() { for (;;) yield* f2(); } function* f2() { yield 1 } for (const _ of f());`,
  ),
  wedging("loops in a sort's comparison", `Array.from({ length: 1e4 }, (_, i) => i).sort(() => { for (;;); });`),
  wedging("loops in a getter of its answer", `return { get answer() { for (;;); } };`),
  wedging(
    "loops in what it throws",
    `throw Object.defineProperty(new Error("x"), "message", { get() { for (;;); } });`,
  ),
  wedging(
    "throws a proxy that never answers",
    `throw new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } });`,
  ),
  wedging(
    "rejects with a proxy that nobody catches",
    `Promise.reject(new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); }, ownKeys() { for (;;); } })); await new Promise((done) => setTimeout(done, 600));`,
    { sees: /200 ms|process|no answer|running time/ },
  ),
  wedging("backtracks in a pattern", `return { answer: /^(a+)+$/.test("a".repeat(40) + "b") };`),
  wedging(
    "compiles a pattern of nested groups",
    `new RegExp("(".repeat(3e4) + ")".repeat(3e4)).test("x".repeat(1e5)); for (;;);`,
  ),
  wedging("normalizes a long text", `return { answer: "A\\u030a".repeat(2e7).normalize().length };`),
  wedging("searches an endless list", `return { answer: Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1) };`),
  wedging("squares a number without end", `let n = 3n; for (;;) n *= n;`),
  wedging(
    "compares long texts by their language",
    `const text = "\\u00e4".repeat(5e6); for (;;) text.localeCompare(text + "x");`,
  ),
  wedging("encodes a long text", `return { answer: encodeURIComponent("\\u20ac".repeat(3e7)).length };`),
  wedging(
    "joins a list that holds itself many times",
    `let list = ["x".repeat(1000)]; for (let at = 0; at < 40; at++) list = [list, list]; return { answer: String(list).length };`,
  ),
  {
    name: "loops at its top level",
    module: `for (;;);\nexport default () => {};`,
    sees: /ms without a pause|time/,
  },
  wedging(
    "answers with a value that is written for ever",
    `let deep = {}; for (let at = 0; at < 30; at++) deep = { a: deep, b: deep }; return { answer: deep };`,
    { sees: /characters at once|200 ms|memory|sense/ },
  ),
  wedging(
    "inspects a value without end",
    `const deep = new Proxy({}, { ownKeys: () => Array.from({ length: 1e5 }, (_, i) => "k" + i), getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: deep }), get: () => deep }); console.log(deep); return { answer: 1 };`,
    { sees: /200 ms|memory|Error|"result":1|process/ },
  ),
];
