import type { EscapeCase } from "../escape-case.ts";

/** Runs natively in the process that holds isolates. */
function native(name: string, code: string, more: Partial<EscapeCase> = {}): EscapeCase {
  const module = `export default async (event, host) => {\nconst { require } = host;\nconst attempt = (work) => { try { return String(work()); } catch (error) { return error.code ?? error.name; } };\n${code}\n};`;
  return { name, rig: "host", module, ...more };
}

/** Frames that no honest process would send. */
const BROKEN = /broke the protocol|has a host that sent|lost its process|makes no sense|killed/;

export const HOST: readonly EscapeCase[] = [
  native(
    "reads files from inside of its process",
    `const fs = require("node:fs"); return { answer: ["{{SECRET}}", "{{TOKEN}}", "/etc/passwd", "/proc/1/environ", "/proc/self/environ", "{{HERE}}/notes.txt"].map((path) => attempt(() => fs.readFileSync(path, "utf8"))) };`,
  ),
  native(
    "writes files from inside of its process",
    `const fs = require("node:fs"); return { answer: ["{{OUTSIDE}}/evil", "{{HOOKS}}/evil.ts", "{{HERE}}/../evil", "/tmp/clawd-escape-evil"].map((path) => attempt(() => fs.writeFileSync(path, "x"))) };`,
    { sees: /"result":\["E[A-Z_]+","E[A-Z_]+","E[A-Z_]+","E[A-Z_]+"\]/ },
  ),
  native("reads its environment", `return { answer: Object.keys(process.env).sort().join() };`, {
    sees: /"result":"[A-Z_,]*MALLOC_ARENA_MAX[A-Z_,]*"/,
  }),
  native(
    "starts other programs from inside of its process",
    `const { spawnSync } = require("node:child_process"); return { answer: [attempt(() => spawnSync("/bin/cat", ["{{SECRET}}"]).error?.code ?? "ran"), attempt(() => spawnSync(process.execPath, ["-e", "1"]).error?.code ?? "ran")] };`,
    { sees: /"result":\["E[A-Z_]+","E[A-Z_]+"\]/ },
  ),
  native(
    "opens sockets from inside of its process",
    `const net = require("node:net");
     const dial = (to) => new Promise((done) => { try { net.connect(to).on("connect", () => done("connected")).on("error", (error) => done(error.code)); } catch (error) { done(error.code ?? error.name); } });
     const listen = () => new Promise((done) => { try { net.createServer().on("error", (error) => done(error.code)).listen(0, "127.0.0.1", () => done("listening")); } catch (error) { done(error.code ?? error.name); } });
     return { answer: [await dial({ port: {{SECRET_PORT}}, host: "127.0.0.1" }), await listen()] };`,
    { onlyAt: "bubblewrap", sees: /"result":\["E[A-Z_]+","E[A-Z_]+"\]/ },
  ),
  native(
    "looks around from inside of its process",
    `const fs = require("node:fs"); return { answer: ["/", "/home", "/root", "{{OUTSIDE}}", "/proc", "/tmp"].map((path) => attempt(() => fs.readdirSync(path).length > 0 && "listed")) };`,
    { sees: /"result":\["E[A-Z_]+","E[A-Z_]+","E[A-Z_]+","E[A-Z_]+","E[A-Z_]+","E[A-Z_]+"\]/ },
  ),
  native(
    "sends a frame of a kind that there is not",
    `host.frame(99, host.guest, 0, ""); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native(
    "says that a frame is four gigabytes long",
    `host.raw(Buffer.from([255, 255, 255, 255, 1])); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native(
    "says that a frame is shorter than it can be",
    `host.raw(Buffer.from([1, 0, 0, 0, 1])); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native(
    "sends bytes that are no text",
    `const bytes = Buffer.alloc(17, 255); bytes.writeUInt32LE(13, 0); bytes.writeUInt8(1, 4); bytes.writeUInt32LE(host.guest, 5); host.raw(bytes); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native(
    "gives a reason for an end that there is not",
    `host.frame(4, host.guest, 77, ""); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native(
    "speaks for guests that it does not have",
    `for (let guest = 0; guest < 50; guest++) if (guest !== host.guest) host.say(guest, { k: "answer", id: 1, value: { answer: "forged" } }); return { answer: "own" };`,
    { sees: /"result":"own"/ },
  ),
  native(
    "says that it is ready, idle and stuck, all at once",
    `for (let turn = 0; turn < 100; turn++) { host.frame(0, 0, 0, ""); host.frame(2, host.guest, 4294967295, ""); host.frame(6, host.guest, 0, ""); host.frame(7, host.guest, 0, ""); } host.frame(5, host.guest, 0, ""); await new Promise(() => {});`,
    { sees: BROKEN },
  ),
  native("says that it waits for ever", `host.frame(6, host.guest, 0, ""); await new Promise(() => {});`, {
    header: "timeout=500ms",
    sees: /waited 3000 ms for a turn/,
  }),
  native(
    "asks the broker in its guest's name for what was not granted",
    `return { answer: await Promise.all([host.call("readTextFile", { path: "{{SECRET}}" }), host.call("writeTextFile", { path: "{{OUTSIDE}}/evil", data: "x", options: { append: false, create: true, createNew: false, mode: null } }), host.call("command", { program: "cat", args: ["{{SECRET}}"], cwd: null, env: {}, clearEnv: false, stdin: null }), host.call("fetch", { url: "http://127.0.0.1:{{SECRET_PORT}}/", method: "GET", headers: [], body: null, redirect: "follow" }), host.call("storeGet", { key: "secret" }), host.call("callTool", { tool: "shell", args: {} })]) };`,
    { sees: /NotCapable.*NotCapable.*NotCapable.*NotCapable.*null.*NotCapable/s },
  ),
  native("takes all the memory that it can get", `const all = []; for (;;) all.push(Buffer.alloc(5e7, 1));`, {
    sees: /memory|lost its process|killed|MiB|no answer/,
  }),
  native("keeps a processor busy", `for (;;);`, { sees: /no answer|killed|process|within/ }),
  native(
    "kills its parents",
    `return { answer: [attempt(() => process.kill(process.ppid, "SIGKILL")), attempt(() => process.kill(1, "SIGKILL"))] };`,
    { onlyAt: "bubblewrap" },
  ),
];
