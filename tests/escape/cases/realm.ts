import type { EscapeCase } from "../escape-case.ts";

/** What a realm with a way out would have. */
const FIND = `const find = (realm) => ["process", "require", "module", "Buffer", "global", "ivm", "$0", "clawdHear"].filter((name) => { try { return realm(name) !== "undefined" } catch { return false } });`;

export const REALM: readonly EscapeCase[] = [
  {
    name: "climbs every constructor it can reach to a Function of another realm",
    body: `${FIND}
      const roots = [[], {}, () => {}, async () => {}, function* () {}, async function* () {}, /x/, new Map(), Promise.resolve(), Symbol(), 1n, event, event.value, clawd, clawd.store, clawd.tool, clawd.memory, Deno, Deno.env, Deno.readTextFile, Deno.Command, Deno.errors.NotFound, console, console.log, fetch, crypto, crypto.subtle, performance, navigator, setTimeout, new URL("http://a/"), new Headers(), new AbortController().signal, new TextEncoder()];
      const found = new Set();
      for (const root of roots) for (let at = root; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
        try { const F = at.constructor.constructor; for (const name of find((n) => F("return typeof " + n)())) found.add(name); } catch {}
      }
      return { answer: [...found] };`,
    sees: /"result":\[\]/,
  },
  {
    name: "reads the functions of the prelude out of call sites",
    body: `const seen = [];
      Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFunction?.(), site.getThis?.(), site.getFileName?.(), site.getEvalOrigin?.()]);
      const look = () => { for (const site of new Error().stack) seen.push(...site.slice(0, 2).filter((it) => it !== undefined && it !== globalThis), ...site.slice(2).filter((it) => typeof it === "string" && !/^(clawd:|$)/.test(it) && !/clawd:guest/.test(it))); };
      look();
      setTimeout(look, 1); queueMicrotask(look);
      const target = new EventTarget(); target.addEventListener("x", look); target.dispatchEvent(new Event("x"));
      await clawd.store.get("x").then(look);
      try { console.log({ get [Symbol.toStringTag]() { look(); return "x" } }); } catch {}
      try { structuredClone({ get a() { look(); return 1 } }); } catch {}
      await new Promise((done) => setTimeout(done, 5));
      delete Error.prepareStackTrace;
      return { answer: seen.filter((it) => typeof it === "function" && !String(it).includes("look")).map(String) };`,
    sees: /"result":\[\]/,
  },
  {
    name: "asks a sloppy callback who called it",
    body: `const sloppy = (0, eval)("(function self() { const c = self.caller; globalThis.callers = [...(globalThis.callers ?? []), typeof c, c && String(c).slice(0, 40)]; return 'x' })");
      const tries = [() => console.log({ toString: sloppy, [Symbol.toPrimitive]: sloppy }), () => setTimeout(sloppy, 1), () => queueMicrotask(sloppy), () => structuredClone({ get a() { return sloppy() } }), () => new Promise((r) => r({ then: (done) => done(sloppy()) })), () => JSON.stringify({ toJSON: sloppy }), () => new Headers({ [Symbol.iterator]: sloppy }), () => Deno.env.get({ toString: sloppy }), () => clawd.store.get({ toString: sloppy })];
      for (const each of tries) try { await each(); } catch {}
      await new Promise((done) => setTimeout(done, 5));
      return { answer: globalThis.callers.filter((it) => typeof it === "string" && it.includes("post")) };`,
    sees: /"result":\[\]/,
  },
  {
    name: "bends Function.prototype.call, apply and bind to catch the way out",
    body: `const caught = [];
      for (const name of ["call", "apply", "bind"]) { const old = Function.prototype[name]; Function.prototype[name] = function (...args) { caught.push(this, ...args); return Reflect.apply(old, this, args); }; }
      Reflect.apply = () => { throw 1 };
      await clawd.store.get("x"); clawd.log("x"); await Deno.readTextFile("x").catch(() => {}); crypto.randomUUID(); setTimeout(() => {}, 1);
      return { answer: caught.filter((it) => typeof it === "function" && /native code/.test(String(it)) && !/^(then|get|set)$/.test(it.name) && it.name === "").length };`,
    sees: /"result":0/,
  },
  {
    name: "bends the promise of its own calls",
    body: `const caught = [];
      const then = Promise.prototype.then;
      Promise.prototype.then = function (...args) { caught.push(this); return Reflect.apply(then, this, args); };
      Object.defineProperty(Promise, Symbol.species, { get() { return function (run) { run((x) => caught.push(x), (x) => caught.push(x)); } } });
      const got = await tell(() => Deno.readTextFile("{{SECRET}}"));
      return { answer: got };`,
    sees: /"result":/,
  },
  {
    name: "sets a prototype on what it returns",
    body: `return JSON.parse('{"answer":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":[{"__proto__":[1]}]}}');`,
    sees: /"constructor":\{"prototype":\{"polluted":1\}\},"a":\[\{\}\]/,
    also: () => (Object.hasOwn(Object.prototype, "polluted") ? "Object.prototype is polluted" : undefined),
  },
  {
    name: "answers through Object.prototype",
    body: `Object.prototype.block = undefined; Object.prototype.answer = "inherited"; Object.prototype.do = "pass"; Object.prototype.k = "exit"; Object.prototype.toJSON = () => ({ k: "answer", id: 1, value: { answer: "forged" } });
      return { pass: true };`,
  },
  {
    name: "bends JSON, Map, Array and String before it calls out",
    body: `JSON.stringify = () => '{"k":"exit","code":0}'; JSON.parse = () => ({}); Map.prototype.get = Map.prototype.set = () => undefined; Array.prototype.push = () => 0; Array.prototype[Symbol.iterator] = () => { throw 3 }; String.prototype.slice = () => "x"; Object.keys = () => []; Object.defineProperty = () => { throw 4 };
      const got = await Deno.readTextFile("{{SECRET}}").then((text) => text, (error) => error.name);
      return { answer: got };`,
    sees: /NotCapable/,
  },
  {
    name: "replaces the constructors that errors and results are made of",
    body: `globalThis.Error = globalThis.TypeError = globalThis.RangeError = class extends Array {}; globalThis.Promise = class {}; globalThis.Uint8Array = class {}; globalThis.Object = class {}; globalThis.Map = class {}; globalThis.Date = class {};
      return { answer: await tell(() => Deno.readFile("{{SECRET}}")) };`,
    sees: /NotCapable/,
  },
  {
    name: "looks for other realms through eval, Function and generators",
    tries: [
      `new Function("return typeof process + typeof require + typeof Buffer")()`,
      `(0, eval)("typeof process + typeof require + typeof Buffer")`,
      `(function* () {}).constructor("return typeof process + typeof require + typeof Buffer")().next().value`,
      `(async () => {}).constructor("return typeof process + typeof require + typeof Buffer")()`,
    ],
    sees: /^undefinedundefinedundefined$/,
  },
  {
    name: "leaves a getter in what it throws, for whoever reads it",
    body: `throw new Proxy(new Error("x"), { get(target, key) { if (key === "stack") return new Proxy({}, { get() { throw process } }); return { toString() { return "shown" } } }, getPrototypeOf() { throw 1 } });`,
  },
  {
    name: "throws things that are no errors",
    body: `const things = [undefined, null, Symbol("x"), 1n, Object.create(null), new Proxy(function () {}, {}), { name: { toString: 1 }, message: [], stack: 5 }, document => 1];
      const at = Number(await clawd.store.get("at") ?? 0);
      throw things[at % things.length];`,
    sees: /threw|cannot be read|TypeError|Error/,
  },
  {
    name: "answers with a thenable that never lets go",
    body: `let turns = 0; const thenable = { then(resolve) { if (turns++ < 1000) resolve(thenable); else resolve({ answer: "through" }); } }; return thenable;`,
    sees: /through|200 ms/,
  },
  {
    name: "answers with a promise that is none",
    body: `return Object.setPrototypeOf({ then: undefined, answer: "x" }, Promise.prototype);`,
  },
  {
    name: "hides its answer behind proxies and getters",
    body: `let reads = 0; return new Proxy({}, { ownKeys: () => ["answer"], getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: 1 }), get: (_, key) => key === "toJSON" ? undefined : key === "answer" ? ++reads : undefined });`,
  },
  {
    name: "gives back a value with a toJSON that answers differently each time",
    body: `let reads = 0; return { toJSON() { reads += 1; return reads > 1 ? { pass: true } : { answer: "first" } } };`,
  },
];
