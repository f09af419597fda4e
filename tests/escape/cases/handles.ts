import { symlinkSync } from "node:fs";
import { join } from "node:path";
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
    name: "makes links, and waits by standing still",
    grant: "read={{HERE}} write={{HERE}}",
    tries: [
      `Deno.openSync("{{SECRET}}")`,
      `Deno.readTextFileSync("{{SECRET}}")`,
      `Deno.symlink("{{SECRET}}", "{{HERE}}/link")`,
      `Deno.link("{{SECRET}}", "{{HERE}}/link")`,
      `Deno.linkSync("{{SECRET}}", "{{HERE}}/link")`,
    ],
    sees: /NotSupported/,
  },
  {
    name: "opens, copies, cuts, marks and watches what it was not granted",
    grant: "read={{HERE}} write={{HERE}}",
    tries: [
      `Deno.open("{{SECRET}}")`,
      `Deno.open("{{SECRET}}", { read: true, write: true })`,
      `Deno.open("{{OUTSIDE}}/new", { write: true, create: true })`,
      `Deno.create("{{OUTSIDE}}/new")`,
      `Deno.copyFile("{{SECRET}}", "{{HERE}}/copy")`,
      `Deno.copyFile("{{HERE}}/notes.txt", "{{OUTSIDE}}/copy")`,
      `Deno.truncate("{{SECRET}}")`,
      `Deno.chmod("{{SECRET}}", 0o777)`,
      `Deno.utime("{{SECRET}}", 1, 1)`,
      `Deno.readLink("{{SECRET}}")`,
      `Deno.realPath("{{OUTSIDE}}/../outside/secret.txt")`,
      `Deno.watchFs("{{OUTSIDE}}").next()`,
      `Deno.watchFs(["{{HERE}}", "{{OUTSIDE}}"]).next()`,
      `Deno.makeTempDir()`,
      `Deno.makeTempFile({ dir: "{{OUTSIDE}}" })`,
      `Deno.makeTempFile({ dir: "{{HERE}}/../../outside" })`,
    ],
    sees: /^NotCapable/,
  },
  {
    name: "names a temporary file out of its folder",
    grant: "read={{HERE}} write={{HERE}}",
    tries: [
      `Deno.makeTempFile({ dir: "{{HERE}}", prefix: "../../outside/" })`,
      `Deno.makeTempFile({ dir: "{{HERE}}", suffix: "/../../../outside/x" })`,
      `Deno.makeTempDir({ dir: "{{HERE}}", prefix: "x\0" })`,
    ],
    sees: /TypeError/,
  },
  {
    name: "opens and marks through a link, and asks it where it leads",
    grant: "read={{HERE}} write={{HERE}}",
    prepare: ({ HERE, SECRET }) => {
      symlinkSync(SECRET, join(HERE, "link"));
      return undefined;
    },
    tries: [
      `Deno.open("{{HERE}}/link")`,
      `Deno.open("{{HERE}}/link", { write: true, truncate: true })`,
      `Deno.copyFile("{{HERE}}/link", "{{HERE}}/copy")`,
      `Deno.copyFile("{{HERE}}/notes.txt", "{{HERE}}/link")`,
      `Deno.truncate("{{HERE}}/link")`,
      `Deno.chmod("{{HERE}}/link", 0o777)`,
      `Deno.utime("{{HERE}}/link", 1, 1)`,
      `Deno.readLink("{{HERE}}/link")`,
      `Deno.realPath("{{HERE}}/link")`,
      `Deno.watchFs("{{HERE}}/link").next()`,
    ],
    sees: /^NotCapable/,
  },
  {
    name: "uses handles that are not its own",
    rig: "prelude",
    body: `const say = (name, args) => post(JSON.stringify({ k: "call", id: 9000 + Math.floor(Math.random() * 1000), name, args }));
      for (let handle = 0; handle < 50; handle++) { say("fileRead", { handle, bytes: 100 }); }
      say("fileWrite", { handle: -1, data: "eA==" }); say("commandRead", { handle: 1e20, from: "stdin" }); say("fileSeek", { handle: 1, offset: 0.5, whence: 7 });
      return { answer: await Deno.open("{{SECRET}}").then(() => "open", (error) => error.name) };`,
    sees: /NotCapable/,
  },
  {
    name: "holds more files, watchers and bytes than it may",
    grant: "read={{HERE}} write={{HERE}}",
    body: `const names = [];
      for (let count = 0; count < 80; count++) names.push(await Deno.open("{{HERE}}/notes.txt").then(() => "open", (error) => error.name));
      const watchers = [];
      for (let count = 0; count < 20; count++) { const watcher = Deno.watchFs("{{HERE}}"); watchers.push(await Promise.race([watcher.next().then(() => "heard", (error) => error.name), new Promise((done) => setTimeout(done, 20, "open"))])); }
      return { answer: [names.filter((name) => name === "open").length, names.at(-1), watchers.at(-1)] };`,
    sees: /"result":\[64,"Busy"/,
  },
  {
    name: "makes a file larger than any may be by a hole",
    grant: "read={{HERE}} write={{HERE}}",
    tries: [
      `Deno.truncate("{{HERE}}/notes.txt", 2 ** 40)`,
      `(async () => { const file = await Deno.create("{{HERE}}/hole"); await file.seek(2 ** 40, 0); await file.write(new Uint8Array(1)); })()`,
      `(async () => { const file = await Deno.create("{{HERE}}/hole"); await file.truncate(2 ** 40); })()`,
    ],
    sees: /would have more than/,
  },
  {
    name: "makes a file that runs as its owner, by its mode or by a copy",
    grant: "read={{HERE}} write={{HERE}}",
    body: `await Deno.chmod("{{HERE}}/notes.txt", 0o6755); await Deno.copyFile("{{HERE}}/notes.txt", "{{HERE}}/copy");
      return { answer: [(await Deno.stat("{{HERE}}/notes.txt")).mode & 0o7000, (await Deno.stat("{{HERE}}/copy")).mode & 0o7000] };`,
    sees: /"result":\[0,0\]/,
  },
  {
    name: "reads what the daemon reads, and hears its signals",
    tries: [
      `Deno.stdin.read(new Uint8Array(8))`,
      `Deno.stdin.isTerminal()`,
      `Deno.addSignalListener("SIGTERM", () => {})`,
    ],
    sees: /^null$|^false$|NotSupported/,
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
