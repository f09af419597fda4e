import type { EscapeCase } from "../escape-case.ts";

export const HANDLES: readonly EscapeCase[] = [
  {
    name: "looks for resources, ops and internals of Deno",
    tries: [
      `typeof Deno.core`,
      `typeof Deno[Deno.internal]`,
      `typeof Deno.resources`,
      `typeof Deno.internal`,
      `typeof Deno.close`,
      `typeof Deno.stdin`,
      `typeof globalThis.__bootstrap`,
      `typeof globalThis.ivm`,
    ],
    sees: /^undefined$/,
  },
  {
    name: "takes up a call that it has left behind after its answer",
    grant: "read={{HERE}} write={{HERE}}",
    body: `setTimeout(() => Deno.writeTextFile("{{HERE}}/late.txt", "x").then(() => console.log("late write"), (error) => console.log(error.name)), 30);
      return { answer: "gone" };`,
    sees: /gone/,
    also: ({ printed }) =>
      printed.some((line) => line.includes("late write")) ? "it wrote after its event" : undefined,
  },
  {
    name: "settles an answer that was given up",
    body: `const stop = new AbortController(); const reading = Deno.readTextFile("x", { signal: stop.signal }); stop.abort("enough");
      return { answer: await reading.then(() => "read", (error) => String(error)) };`,
    sees: /enough/,
  },
  {
    name: "gives up the calls of others by a signal of its own making",
    body: `const fake = { aborted: false, reason: "x", addEventListener(_, stop) { stop(); stop(); stop(); }, removeEventListener() { throw 1 } };
      return { answer: await tell(() => Deno.readTextFile("x", { signal: fake })) };`,
  },
  {
    name: "clones what cannot be cloned",
    tries: [
      `structuredClone(clawd.tool)`,
      `structuredClone(Deno.readTextFile)`,
      `structuredClone({ get a() { throw new Error("NotCloneable") } })`,
      `structuredClone(new Proxy({}, { ownKeys() { throw new Error("NotCloneable") } }))`,
      `structuredClone(Symbol("x"))`,
      `structuredClone(new WeakRef({}))`,
    ],
    sees: /DataCloneError|NotCloneable|could not be cloned/,
  },
  {
    name: "finds host objects by their end",
    body: `const seen = []; const registry = new FinalizationRegistry((held) => seen.push(held));
      for (const [name, it] of Object.entries({ event, clawd, call: Deno.readTextFile("x").catch(() => {}) })) registry.register(it, name);
      await new Promise((done) => setTimeout(done, 30));
      return { answer: seen.every((held) => typeof held === "string") };`,
    sees: /true/,
  },
  {
    name: "changes what it was handed for those who come after",
    body: `const texts = [await tell(() => { "use strict"; clawd.tool = 1; }), await tell(() => { "use strict"; clawd.store.get = 1; }), await tell(() => { delete clawd.memory; })];
      event.value.try = "changed"; event.sessionId = "victim"; Object.setPrototypeOf(event, null);
      return { answer: texts };`,
    sees: /TypeError.*TypeError.*TypeError/s,
  },
  {
    name: "looks for a file handle",
    grant: "read={{HERE}} write={{HERE}}",
    tries: [
      `Deno.open("{{HERE}}/notes.txt")`,
      `Deno.create("{{HERE}}/x")`,
      `Deno.openSync("{{SECRET}}")`,
      `Deno.readTextFileSync("{{SECRET}}")`,
      `Deno.watchFs("{{HERE}}")`,
      `Deno.readLink("{{HERE}}")`,
      `Deno.realPath("{{HERE}}")`,
      `Deno.symlink("{{SECRET}}", "{{HERE}}/link")`,
      `Deno.link("{{SECRET}}", "{{HERE}}/link")`,
      `Deno.linkSync("{{SECRET}}", "{{HERE}}/link")`,
      `Deno.copyFile("{{SECRET}}", "{{HERE}}/copy")`,
      `Deno.truncate("{{SECRET}}")`,
      `Deno.chmod("{{SECRET}}", 0o777)`,
      `Deno.makeTempDir()`,
    ],
    sees: /NotSupported/,
  },
  {
    name: "keeps a command's child by the hand",
    grant: "run=sleep",
    tries: [
      `new Deno.Command("sleep", { args: ["30"] }).spawn().pid`,
      `new Deno.Command("sleep", { args: ["30"] }).outputSync()`,
    ],
    sees: /NotSupported|^\d$|undefined|NotCapable|^0$|nothing/,
  },
  {
    name: "reads a body twice, and one that is not its own",
    body: `const response = new Response("x"); await response.text();
      return { answer: [await tell(() => response.text()), await tell(() => Response.prototype.text.call({})), await tell(() => Object.getOwnPropertyDescriptor(Response.prototype, "url").get.call({}))] };`,
    sees: /TypeError.*TypeError.*TypeError/s,
  },
  {
    name: "asks for a permission object and bends it",
    body: `const status = await Deno.permissions.query({ name: "read", path: "{{SECRET}}" });
      for (const bend of [() => { status.state = "granted"; }, () => Object.defineProperty(status, "state", { value: "granted" }), () => Object.setPrototypeOf(status, { state: "granted" }), () => { Deno.permissions.query = async () => ({ state: "granted" }); }, () => { Deno.PermissionStatus.prototype.state = "granted"; }]) try { bend(); } catch {}
      return { answer: await tell(() => Deno.readTextFile("{{SECRET}}")) };`,
    sees: /NotCapable/,
  },
];
