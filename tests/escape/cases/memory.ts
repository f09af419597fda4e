import type { EscapeCase } from "../escape-case.ts";

const STOPPED = /memory|process|200 ms|running time|RangeError|Array buffer allocation|Invalid|no answer/;

function filling(name: string, body: string, more: Partial<EscapeCase> = {}): EscapeCase {
  return { name, body, sees: STOPPED, ...more };
}

export const MEMORY: readonly EscapeCase[] = [
  filling("fills lists", `const all = []; for (;;) all.push(new Array(1e5).fill({}));`),
  filling(
    "fills a map",
    `const map = new Map(); for (let at = 0; ; at++) { map.set(at, {}); if (at % 1e4 === 0) await null; }`,
  ),
  filling("asks for a list of four thousand million", `return { answer: Array.from({ length: 2 ** 32 - 1 }).length };`),
  filling("fills a list of a thousand million", `return { answer: new Array(1e9).fill(0).length };`),
  filling(
    "allocates buffers outside of the heap",
    `const all = []; for (;;) { all.push(new Uint8Array(1e7).fill(1)); await null; }`,
  ),
  filling(
    "allocates buffers that grow",
    `const all = []; for (;;) { const buffer = new ArrayBuffer(1, { maxByteLength: 1e8 }); buffer.resize(1e8); new Uint8Array(buffer).fill(1); all.push(buffer); }`,
  ),
  filling(
    "flattens a rope of text",
    `let text = "x".repeat(1e6); for (let at = 0; at < 9; at++) text += text; return { answer: /y/.test(text) };`,
    { sees: /memory|process|200 ms|RangeError|"result":false/ },
  ),
  filling(
    "writes a text of all its memory",
    `let text = "\\u0001".repeat(2e7); return { answer: JSON.stringify([text, text, text]).length };`,
    { sees: /memory|process|200 ms|RangeError|"result"/ },
  ),
  filling("calls itself without end", `const dive = () => dive() + 1; return { answer: await tell(() => dive()) };`, {
    sees: /RangeError/,
  }),
  filling(
    "makes closures that hold each other",
    `let chain = null; for (;;) { const before = chain; chain = () => before; if (Math.random() < 1e-5) await null; }`,
  ),
  filling(
    "makes promises that wait for each other",
    `let last = Promise.resolve(); const all = []; for (;;) { last = last.then(() => new Promise(() => {})); all.push(last); }`,
  ),
  filling(
    "reserves address space in small pieces",
    `const all = []; for (let at = 0; at < 5e5; at++) all.push(new ArrayBuffer(64, { maxByteLength: 1 << 20 })); return { answer: all.length };`,
  ),
  filling(
    "makes symbols and weak maps without end",
    `const map = new WeakMap(), keep = []; for (;;) { const key = {}; map.set(key, new Array(100).fill(Symbol())); keep.push(key); }`,
  ),
  filling(
    "parses what grows",
    `let text = "[1]"; for (let at = 0; at < 26; at++) text = "[" + text + "," + text + "]"; return { answer: JSON.parse(text).length };`,
    { sees: /memory|process|200 ms|RangeError|"result":2/ },
  ),
  filling(
    "clones and encodes large things",
    `const large = new Array(2e5).fill(0).map((_, at) => ({ at })); const all = []; for (;;) all.push(structuredClone(large), new TextEncoder().encode("x".repeat(1e6)), btoa("x".repeat(1e6)));`,
  ),
];
