import type { EscapeCase } from "../escape-case.ts";

export const LEAKS: readonly EscapeCase[] = [
  {
    name: "collects the stacks of all errors it can cause",
    body: `const stacks = [];
      const calls = [() => Deno.readTextFile("x"), () => Deno.readTextFile("\\0"), () => Deno.stat(5), () => fetch("http://127.0.0.1/"), () => fetch("nonsense"), () => new Deno.Command("ls").output(), () => Deno.permissions.query({ name: "nonsense" }), () => clawd.tool("shell", {}), () => clawd.tool("no such tool", {}), () => clawd.memory.search("x"), () => clawd.store.set("", 1), () => clawd.store.get("x".repeat(300)), () => crypto.subtle.digest("MD5", new Uint8Array(1)), () => crypto.getRandomValues(new Uint8Array(1e6)), () => structuredClone(() => {}), () => new URL("::"), () => atob("%"), () => Deno.exit(1), () => Deno.openSync("x"), () => setTimeout("code"), () => clawd.store.set("a", 1n), () => new TextDecoder("nonsense"), () => JSON.parse("{")];
      Error.stackTraceLimit = 200;
      for (const call of calls) stacks.push(await tell(call));
      return { answer: stacks };`,
    sees: /NotCapable/,
  },
  {
    name: "overflows the stack inside of the prelude",
    body: `const texts = [];
      for (const call of [() => console.log("x"), () => Deno.readTextFile("x"), () => clawd.store.get("x"), () => structuredClone({ a: 1 }), () => new URL("http://x/"), () => crypto.randomUUID()]) {
        const dive = (depth) => { try { return dive(depth + 1); } catch (error) { try { call(); } catch (inner) { texts.push(inner.stack); } throw error; } };
        try { dive(0); } catch (error) { texts.push(error.stack); }
        if (texts.length > 50) texts.length = 50;
      }
      return { answer: texts.slice(0, 20).map((text) => String(text).slice(0, 500)) };`,
  },
  {
    name: "throws an error whose stack it has made itself with the host's limit",
    body: `Error.stackTraceLimit = Infinity; await clawd.store.get("x"); const error = new Error("deep"); throw error;`,
    sees: /deep/,
  },
  {
    name: "lets errors go uncaught in timers, promises and listeners",
    body: `Error.stackTraceLimit = 100; setTimeout(() => { throw new Error("timer") }, 1); queueMicrotask(() => { throw new Error("microtask") }); Promise.reject(new Error("rejected")); reportError(new Error("reported")); new EventTarget().dispatchEvent(new Event("x")); setTimeout(() => null.x, 2);
      await new Promise((done) => setTimeout(done, 20));
      return { answer: "done" };`,
    also: ({ printed }) =>
      ["timer", "microtask", "rejected", "reported"].every((word) => printed.some((line) => line.includes(word)))
        ? undefined
        : `an uncaught error was not told: ${printed.join(" | ")}`,
  },
  {
    name: "asks where it runs",
    tries: [
      `Deno.cwd()`,
      `Deno.mainModule`,
      `import.meta.url`,
      `import.meta.filename`,
      `import.meta.dirname`,
      `JSON.stringify(import.meta)`,
      `Deno.args.join()`,
      `clawd.hook`,
      `Deno.execPath()`,
      `new Error().fileName`,
      `new URL(".", import.meta.url).href`,
    ],
  },
  {
    name: "asks what the machine is",
    tries: [
      `Deno.hostname()`,
      `Deno.osRelease()`,
      `Deno.osUptime()`,
      `Deno.loadavg()`,
      `Deno.systemMemoryInfo()`,
      `Deno.networkInterfaces()`,
      `Deno.uid()`,
      `Deno.gid()`,
      `Deno.memoryUsage()`,
    ],
    sees: /NotCapable|NotSupported/,
  },
  {
    name: "takes the environment in one piece",
    grant: "env=PLAIN",
    tries: [
      `Deno.env.toObject()`,
      `Deno.env.get("CANARY_VALUE")`,
      `Deno.env.get("CANARY_API_KEY")`,
      `Deno.env.get("CLAWD_ESCAPE_CANARY")`,
      `Deno.env.get("__proto__")`,
      `Deno.env.get("constructor")`,
      `Deno.env.get("")`,
      `Deno.env.has("CANARY_VALUE")`,
      `Deno.env.set("CANARY_VALUE", "x")`,
    ],
    sees: /NotCapable/,
  },
  {
    name: "takes secrets out of the environment by a grant for all of it",
    grant: "env",
    deny: "env=CANARY_VALUE",
    body: `const names = ["CANARY_API_KEY", "CANARY_VALUE", "CLAWD_ESCAPE_CANARY"];
      const texts = []; for (const name of names) texts.push(await tell(() => Deno.env.get(name)));
      texts.push(await tell(() => Deno.env.toObject()));
      return { answer: texts };`,
  },
  {
    name: "takes a secret variable by a prefix",
    grant: "env=CANARY_API*",
    tries: [`Deno.env.get("CANARY_API_KEY")`, `Deno.env.toObject()`],
    sees: /NotCapable/,
  },
  {
    name: "reads memory that was not cleared",
    body: `let found = 0;
      for (let turn = 0; turn < 40; turn++) { for (const byte of new Uint8Array(65536)) if (byte !== 0) found++; if (turn % 8 === 0) await new Promise((done) => setTimeout(done, 1)); }
      const random = crypto.getRandomValues(new Uint8Array(16));
      return { answer: found };`,
    sees: /"result":0/,
  },
  {
    name: "measures finely",
    body: `const seen = new Set(); for (let turn = 0; turn < 2000; turn++) seen.add(performance.now() % 1);
      return { answer: [...seen].some((part) => part !== 0 && Math.abs(part - Math.round(part * 10) / 10) > 1e-6) };`,
    sees: /"result":false/,
  },
  {
    name: "reads what others have printed",
    body: `console.log("mine"); const own = JSON.stringify(Object.getOwnPropertyNames(console)); return { answer: own };`,
  },
  {
    name: "reads the source of what surrounds it",
    body: `const texts = [Deno.readTextFile, console.log, fetch, setTimeout, clawd.store.get, clawd.tool, Deno.Command, URL].map((each) => Function.prototype.toString.call(each));
      return { answer: texts.join("\\n").slice(0, 4000) };`,
  },
];
