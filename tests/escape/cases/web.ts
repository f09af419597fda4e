import type { EscapeCase } from "../escape-case.ts";

const DENIED = /^NotCapable: Requires net access/;
const STOPPED = /memory|process|200 ms|running time|RangeError|Array buffer allocation|no answer/;
const MAKES_NO_SENSE = /at once|makes no sense/;

/** Why a WebSocket to an address came to nothing. */
const socket = (url: string) =>
  `new Promise((resolve, reject) => { const socket = new WebSocket("${url}"); socket.onopen = () => resolve("OPEN"); socket.onerror = ({ error }) => reject(error); })`;

/** What a built-in shows of an outside, whatever it is called with while a library loads. */
const POISON = `const seen = [];
  for (const [owner, names] of [[Array.prototype, ["push", "map", "slice", "join"]], [Function.prototype, ["call", "apply", "bind"]], [Map.prototype, ["get", "set"]], [Object, ["defineProperty", "create", "freeze", "entries"]], [JSON, ["parse", "stringify"]], [Promise.prototype, ["then"]], [Reflect, ["apply"]]])
    for (const name of names) {
      const own = owner[name];
      const { apply } = Reflect;
      owner[name] = function (...args) {
        for (const one of [this, ...args]) {
          try {
            const kind = one?.constructor?.constructor;
            if (typeof kind === "function" && kind("return typeof process")() !== "undefined") seen[seen.length] = "OUTSIDE";
          } catch {}
        }
        return apply(own, this, args);
      };
    }`;

export const WEB: readonly EscapeCase[] = [
  {
    name: "reads, lists and links a secret by node:fs",
    module: `import fs from "node:fs";
      const said = (work) => Promise.resolve().then(work).then(String, (error) => error.name + error.message);
      export default async () => ({ answer: (await Promise.all([
        said(() => fs.promises.readFile("{{SECRET}}", "utf8")),
        said(() => new Promise((resolve, reject) => fs.readFile("{{SECRET}}", (error, data) => error ? reject(error) : resolve(data)))),
        said(() => fs.promises.readdir("/")),
        said(() => fs.promises.copyFile("{{SECRET}}", "./copy")),
        said(() => fs.promises.symlink("{{SECRET}}", "./link")),
        said(() => fs.readFileSync("{{SECRET}}")),
        said(() => fs.readFileSync(3)),
      ])).map((text) => /^(NotCapable|NotSupported|TypeError)/.exec(text)?.[0] ?? text).join() });`,
    sees: /NotCapable,NotCapable,NotCapable,NotCapable,NotSupported,NotSupported,TypeError/,
  },
  {
    name: "bends the global object's prototype, listeners and attributes, and then leaves errors behind",
    body: `onerror = () => true; onunhandledrejection = { handleEvent: 5 };
      EventTarget.prototype.addEventListener = EventTarget.prototype.dispatchEvent = () => { throw 7 };
      Object.setPrototypeOf(globalThis, new Proxy({}, { get(_, key) { throw new Error("looked at " + String(key)); }, has: () => false }));
      reportError(new Error("one"));
      const got = await Deno.readTextFile("{{SECRET}}").then((text) => text, (error) => error.name);
      return { answer: got };`,
    sees: /NotCapable/,
  },
  {
    name: "opens a WebSocket to this machine without a grant",
    tries: [socket("ws://127.0.0.1:{{SECRET_PORT}}/"), socket("ws://[::1]:{{SECRET_PORT}}/")],
    sees: DENIED,
  },
  {
    name: "opens a WebSocket to this machine with a grant for the whole network",
    grant: "net",
    tries: ["127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "127.0.0.1."].map((host) =>
      socket(`ws://${host}:{{SECRET_PORT}}/`),
    ),
    sees: DENIED,
  },
  {
    name: "opens a WebSocket to a server whose redirect leads to another",
    grant: "net=127.0.0.1:{{PORT}}",
    tries: [socket("ws://127.0.0.1:{{PORT}}/to-secret")],
    sees: /^TypeError/,
    reaches: ["server"],
  },
  {
    name: "poisons built-ins before the libraries load",
    body: `${POISON}
      for (const use of [() => new ReadableStream({ start(c) { c.close(); } }).getReader().read(), () => crypto.subtle.digest("SHA-1", new Uint8Array(1)), () => new URLPattern({ pathname: "/a" }), () => new TextDecoder("big5"), () => new MessageChannel(), () => new CompressionStream("gzip")])
        try { await use(); } catch {}
      return { answer: seen.length };`,
    sees: /"result":0/,
  },
  {
    name: "asks the host for files in the place of libraries",
    rig: "prelude",
    module: `export default async () => ({ answer: ["../hook-host.js", "/etc/passwd", "{{SECRET}}", "__proto__", "constructor", "url=x", ""].map((name) => String(post("L" + name))).join("") });`,
    sees: /"result":""/,
  },
  {
    name: "gives the host jobs that make no sense",
    rig: "prelude",
    module: `export default async () => { post('J{"id":1,"job":"crypto","method":5}'); return { answer: "x" }; };`,
    sees: MAKES_NO_SENSE,
  },
  {
    name: "calls methods that every object has as jobs of cryptography",
    rig: "prelude",
    module: `export default async () => {
      for (const method of ["constructor", "__proto__", "toString", "supports"]) post("J" + JSON.stringify({ id: 900, job: "crypto", method, args: [] }));
      for (const args of [[null], [{ name: { toString: 1 } }], [{ $key: "AAAA" }], [{ __proto__: null, $bytes: 5 }]]) post("J" + JSON.stringify({ id: 900, job: "crypto", method: "digest", args }));
      await new Promise((done) => setTimeout(done, 20));
      return { answer: "through" };
    };`,
    sees: /"result":"through"/,
  },
  {
    name: "keeps what unpacks to very much",
    body: `const zeros = new Uint8Array(2 ** 20);
      const packed = await new Response(new ReadableStream({ start(c) { for (let at = 0; at < 4; at++) c.enqueue(zeros); c.close(); } }).pipeThrough(new CompressionStream("gzip"))).bytes();
      const all = [];
      for (;;) all.push(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).bytes());`,
    sees: STOPPED,
  },
  {
    name: "fills a stream that nobody reads",
    body: `let stream; new ReadableStream({ start(c) { stream = c; } }); for (;;) { for (let at = 0; at < 1000; at++) stream.enqueue(new Uint8Array(1e4).fill(1)); await null; }`,
    sees: STOPPED,
  },
  {
    name: "tees a stream and reads one side of it",
    body: `const [one] = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1e5).fill(1)); } }).tee(); for await (const _ of one) {}`,
    sees: STOPPED,
  },
  {
    name: "sends itself messages without end",
    body: `const { port1, port2 } = new MessageChannel(); for (;;) port1.postMessage(new Uint8Array(1e4));`,
    sees: /memory|process|200 ms|running time|Array buffer allocation|more than 10000 messages/,
  },
  {
    name: "derives bits until the processor is gone",
    body: `const base = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
      const job = () => crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(8), iterations: 1e6 }, base, 2048);
      for (;;) await Promise.all(Array.from({ length: 60 }, job));`,
    sees: /gave no answer|running time|no answer|NotSupported|too many/,
  },
];
