import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, valuesInNode } from "../fixtures/guest-room.ts";
import type { FromGuest } from "./guest-protocol.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

function logged(said: readonly FromGuest[]): string {
  return said.map((word) => (word.k === "log" ? word.text : "")).join("");
}

/** Longest prelude, bytes: every isolate evaluates it. */
const PRELUDE_BYTES = 120 * 1024;

test("the prelude stays small", async () => {
  expect((await stat(join(room.folder, "guest-prelude.js"))).size).toBeLessThan(PRELUDE_BYTES);
});

test("the surface is there, and what is not offered is not", async () => {
  const there =
    "AbortController AbortSignal Blob ByteLengthQueuingStrategy CloseEvent CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream ErrorEvent Event EventTarget File FormData Headers MessageChannel MessageEvent MessagePort Performance PromiseRejectionEvent ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams WebSocket WritableStream WritableStreamDefaultController WritableStreamDefaultWriter addEventListener atob btoa clearInterval clearTimeout dispatchEvent fetch queueMicrotask removeEventListener reportError setInterval setTimeout structuredClone";
  const gone =
    "WebAssembly SharedArrayBuffer Atomics require process Buffer global setImmediate $0 clawdHear clawdLoad clawdLibrary";
  const printed = await room.printed(`
    console.log("${there}".split(" ").filter((name) => typeof globalThis[name] !== "function" || globalThis[name].name !== name).join());
    console.log("${gone}".split(" ").filter((name) => typeof eval("typeof " + name) !== "string" || eval("typeof " + name) !== "undefined").join());
    console.log(typeof Uint8Array.fromBase64, typeof Uint8Array.prototype.toHex, self === globalThis, navigator.userAgent, String(navigator));
    console.log(Object.keys(globalThis).join());`);
  expect(printed).toBe("\n\nundefined undefined true clawd [object Navigator]\n\n");
});

test("timers run in order, are at least a millisecond long, and can be cleared", async () => {
  const printed = await room.printed(`
    const log = [];
    const done = Promise.withResolvers();
    setTimeout(() => { log.push("c"); done.resolve(); }, 200);
    setTimeout((...args) => log.push("a", ...args), -5, 1, 2);
    setTimeout(() => { log.push("b"); Promise.resolve().then(() => log.push("after b")); }, 100);
    clearTimeout(setTimeout(() => log.push("never"), 1));
    clearTimeout(999); clearInterval(undefined);
    queueMicrotask(() => log.push("micro"));
    await done.promise;
    let left = 3;
    await new Promise((stop) => {
      const every = setInterval(() => { log.push("i"); if (--left === 0) { clearInterval(every); stop(); } }, 1);
    });
    console.log(log.join(" "));
    for (const wrong of ["text", null, {}]) try { setTimeout(wrong); } catch (error) { console.log(error.name); }
    try { queueMicrotask(5); } catch (error) { console.log(error.name); }`);
  expect(printed).toBe("micro a 1 2 b after b c i i i\nTypeError\nTypeError\nTypeError\nTypeError\n");
});

test("a 65th timer is refused", async () => {
  const printed = await room.printed(`
    const ids = Array.from({ length: 64 }, () => setTimeout(() => {}, 1));
    try { setTimeout(() => {}, 1); } catch (error) { console.log(error.name); }
    clearTimeout(ids[0]);
    setTimeout(() => console.log("fits"), 1);`);
  expect(printed).toBe("RangeError\nfits\n");
});

test("a signal's time limit alone keeps no guest waiting", async () => {
  const { said } = await room.run("AbortSignal.timeout(100_000); console.log('done');");
  expect(said.map((word) => word.k)).toEqual(["log", "loaded"]);
});

test("an error that nothing catches is told, after listeners of errors had their say", async () => {
  const { said } = await room.run(`
    setTimeout(() => { throw new RangeError("timer"); }, 1);
    queueMicrotask(() => { throw new TypeError("micro"); });
    reportError(5);
    const hear = (event) => { console.log(event.type, event.message, event.error.message); if (event.error.message === "seen") event.preventDefault(); };
    addEventListener("error", hear);
    reportError(new Error("seen"));
    reportError(new Error("passed on"));
    removeEventListener("error", hear);
    addEventListener("error", () => { throw new Error("of the listener"); });
    reportError(new Error("last"));`);
  expect(said.map((word) => (word.k === "fault" ? word.error.message : word.k === "log" ? word.text : word.k))).toEqual(
    [
      "5",
      "error Uncaught Error: seen seen\n",
      "error Uncaught Error: passed on passed on\n",
      "passed on",
      "of the listener",
      "last",
      "of the listener",
      "micro",
      "loaded",
      "of the listener",
      "timer",
    ],
  );
});

test("random values come from the host, within their limits", async () => {
  const printed = await room.printed(`
    const id = crypto.randomUUID();
    console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id), id !== crypto.randomUUID());
    const words = new Uint32Array(64);
    console.log(crypto.getRandomValues(words) === words, new Set(words).size > 60);
    console.log(crypto.getRandomValues(new Uint8Array(65_536)).some((byte) => byte !== 0), crypto.getRandomValues(new Uint8Array(0)).length);
    const part = new Uint8Array(8); crypto.getRandomValues(part.subarray(2, 4)); console.log(part[0] + part[1] + part[4]);
    for (const wrong of [() => crypto.getRandomValues(new Uint8Array(65_537)), () => crypto.getRandomValues(new Float32Array(1)), () => crypto.getRandomValues([]), () => new Crypto()])
      try { wrong(); } catch (error) { console.log(error.name); }`);
  expect(printed).toBe(
    "true true\ntrue true\ntrue 0\n0\nQuotaExceededError\nTypeMismatchError\nTypeMismatchError\nTypeError\n",
  );
});

test("digests are Node's", async () => {
  const hex = (algorithm: string, data: string) =>
    `(async () => Array.from(new Uint8Array(await crypto.subtle.digest(${algorithm}, ${data}))).join())()`;
  const expressions = ['"SHA-1"', '"sha-256"', '{ name: "SHA-384" }', '"SHA-512"', '"MD5"', "5"].flatMap(
    (algorithm) => [
      hex(algorithm, "new TextEncoder().encode('abc')"),
      hex(algorithm, "new ArrayBuffer(0)"),
      hex(algorithm, "new Uint16Array([1, 2, 3]).subarray(1)"),
    ],
  );
  expressions.push(hex('"SHA-256"', "'text'"), "crypto.subtle.sign({}, {}, {}).catch((error) => typeof error.name)");
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
});

test("performance counts whole milliseconds", async () => {
  const expressions = [
    "Number.isInteger(Math.round(performance.now()))",
    "performance.timeOrigin > 1e12",
    "((m) => [m.name, m.entryType, m.duration, m.detail, m.startTime])(performance.mark('a', { startTime: 5, detail: { x: 1 } }))",
    "((m) => [m.name, m.entryType, m.duration, m.startTime])(performance.measure('b', { start: 3, end: 10 }))",
    "(performance.mark('p', { startTime: 2 }), performance.mark('q', { startTime: 9 }), performance.measure('r', 'p', 'q').duration)",
    "performance.measure('x', 'none')",
    "performance.getEntriesByName('r').length",
    "performance.getEntriesByType('measure').map((entry) => entry.name)",
    "(performance.clearMarks(), performance.clearMeasures('b'), performance.getEntries().map((entry) => entry.name).filter((name) => name === 'r' || name === 'b' || name === 'a'))",
  ];
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
  expect(
    await room.values(["Number.isInteger(performance.now())", "Number.isInteger(new Event('x').timeStamp)"]),
  ).toEqual([true, true]);
});

/** Spoils everything that the way in and out might lean on. */
const BENDING = `
  const spoil = () => { throw new Error("bent"); };
  const all = [
    [Map.prototype, ["get", "set", "delete", "has", "forEach", "values", "entries", Symbol.iterator]],
    [Set.prototype, ["add", "has", "delete", Symbol.iterator]],
    [Array.prototype, ["push", "map", "slice", "join", "filter", "find", "includes", Symbol.iterator]],
    [String.prototype, ["slice", "split", "replace", "replaceAll", "startsWith", "charCodeAt", "trim"]],
    [Function.prototype, ["call", "apply", "bind"]],
    [Promise, ["resolve", "reject", "all"]],
    [Promise.prototype, ["then", "catch", "finally"]],
    [JSON, ["parse", "stringify"]],
    [Reflect, ["apply", "get", "set"]],
    [Object, ["defineProperty", "keys", "entries", "hasOwn", "getPrototypeOf", "setPrototypeOf", "freeze"]],
    [Object.prototype, ["toString", "valueOf", "hasOwnProperty"]],
    [Math, ["min", "max"]],
    [Date, ["now"]],
    [globalThis, ["Map", "Promise", "Error", "RangeError", "TypeError", "JSON", "Reflect", "String", "Number", "eval", "Uint8Array"]],
  ];
  for (let at = 0; at < all.length; at += 1)
    for (let n = 0; n < all[at][1].length; n += 1) all[at][0][all[at][1][n]] = spoil;
  Object.prototype.k = "exit"; Object.prototype.code = 7;
`;

test("a guest that bends its built-ins can still be asked, answer, call and wait", async () => {
  const { said } = await room.run(
    `__clawdTake({ default: async (event) => {
       await null;
       return { heard: event.n };
     } });
     ${BENDING}`,
    { mode: "hook", events: [{ n: 5 }] },
  );
  expect(said.filter((word) => word.k !== "log")).toEqual([
    { k: "loaded" },
    { k: "answer", id: 1, value: { heard: 5 } },
  ]);
});

test("a timer and a call still come back to a guest that has bent its built-ins", async () => {
  const { said } = await room.run(
    `const { setTimeout, Deno } = globalThis;
     __clawdTake({ default: (event) => new globalThis.Gate((open) => {
       setTimeout(() => { asked.then((text) => open(text)); }, 1);
       const asked = Deno.readTextFile("/x");
     }) });
     globalThis.Gate = Promise;
     const then = Promise.prototype.then;
     ${BENDING}
     Gate.prototype.then = then;`,
    { mode: "hook", events: [1], answers: { readTextFile: { ok: true, value: "text" } } },
  );
  expect(said.filter((word) => word.k === "answer" || word.k === "threw")).toEqual([
    { k: "answer", id: 1, value: "text" },
  ]);
});

test("an answer that is too large is refused before its text is made", async () => {
  const huge = [
    "'x'.repeat(7_000_000)",
    "Array.from({ length: 10 }, () => 'x'.repeat(1_000_000))",
    "new Array(4_000_000_000)",
    "Object.fromEntries(Array.from({ length: 7 }, (_, n) => ['x'.repeat(1_000_000) + n, 1]))",
    "{ toJSON: () => 'x'.repeat(7_000_000) }",
  ];
  for (const value of huge) {
    const source = `__clawdTake({ default: () => (${value}) });`;
    const { said } = await room.run(source, { mode: "hook", events: [1] });
    expect(said).toMatchObject([{ k: "loaded" }, { k: "threw", id: 1, error: { name: "RangeError" } }]);
  }
});

test("what cannot be JSON is an error of the hook", async () => {
  const { said } = await room.run("__clawdTake({ default: () => 5n });", { mode: "hook", events: [1] });
  expect(said).toMatchObject([{ k: "loaded" }, { k: "threw", error: { name: "TypeError" } }]);
});

test("errors are told with their name, message and the guest's own lines, whatever they are", async () => {
  const thrown: Record<string, object> = {
    "new RangeError('m')": {
      name: "RangeError",
      message: "m",
      stack: expect.stringMatching(/^RangeError: m\n {4}at .*clawd:guest:1:/),
    },
    "'text'": { name: "", message: '"text"', stack: "" },
    "{ a: 1 }": { name: "", message: "{ a: 1 }", stack: "" },
    undefined: { name: "", message: "undefined", stack: "" },
    "{ get name() { throw 1; } }": { name: "", message: "{ name: [Getter] }", stack: "" },
    "Object.defineProperty(new Error('m'), 'name', { get() { throw 1; } })": {
      name: "",
      message: "something that cannot be read",
      stack: "",
    },
    "new Proxy(new Error('m'), { get() { throw 1; } })": {
      name: "",
      message: "something that cannot be read",
      stack: "",
    },
    "Object.assign(new Error('x'.repeat(20_000)), { name: 5 })": { name: "Error", message: "x".repeat(8192) },
    "new DOMException('d', 'AbortError')": { name: "AbortError", message: "d" },
  };
  for (const [value, error] of Object.entries(thrown)) {
    const { said } = await room.run(`__clawdTake({ default: () => { throw ${value}; } });`, {
      mode: "hook",
      events: [1],
    });
    expect(said).toMatchObject([{ k: "loaded" }, { k: "threw", id: 1, error }]);
    expect(JSON.stringify(said)).not.toContain("clawd:prelude");
  }
});

test("a hook's lines are counted for each event, a script's are not", async () => {
  const print = "for (let n = 0; n < 1500; n += 1) console.log(n);";
  const hook = await room.run(`__clawdTake({ default: () => { ${print} } });`, { mode: "hook", events: [1, 2] });
  expect(hook.said.filter((word) => word.k === "log")).toHaveLength(2000);
  expect(logged((await room.run(print)).said).split("\n")).toHaveLength(1501);
});

test("a module that throws, is no program or has no function for a hook is said to be unloadable", async () => {
  const why = async (source: string, mode: "hook" | "script") => {
    const [word] = (await room.run(source, { mode })).said;
    return word?.k === "unloadable" ? word.error.message : word?.k;
  };
  expect(await why("throw new Error('top');", "script")).toBe("top");
  expect(await why("await null; throw new Error('later');", "hook")).toBe("later");
  expect(await why("1 +;", "script")).toMatch(/Unexpected token/);
  expect(await why("__clawdTake({ default: 5 });", "hook")).toBe("it has no function as its default export");
  expect(await why("1;", "script")).toBe("loaded");
});

test("where the host has V8's own base64 it gives the same, and guests do not see it", async () => {
  await using native = Object.assign(await openGuestRoom(["--js-base-64"]), {
    [Symbol.asyncDispose]: () => native.close(),
  });
  const expressions = [
    ...["", "YQ==", "YQ", "YQ=", "YWI=", "Y Q\\n=\\t=", "Y", "YQ===", "=", "*", "YR", "-_", "ab=c"].map(
      (code) => `atob("${code}")`,
    ),
    ...["", "a", "ab", "abc", "\\u00ff\\u0000", "€"].map((text) => `btoa("${text}")`),
  ];
  expect(await native.values(expressions)).toEqual(await valuesInNode(expressions));
  expect(await native.values(["[typeof Uint8Array.fromBase64, typeof Uint8Array.prototype.toHex]"])).toEqual([
    ["undefined", "undefined"],
  ]);
});
