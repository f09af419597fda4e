import type { EscapeCase } from "../escape-case.ts";

const DENIED = /NotCapable/;

export const PERMISSIONS: readonly EscapeCase[] = [
  {
    name: "asks with descriptors that make no sense",
    tries: [
      `Deno.permissions.query({ name: "constructor" })`,
      `Deno.permissions.query({ name: "__proto__" })`,
      `Deno.permissions.query({})`,
      `Deno.permissions.query(null)`,
      `Deno.permissions.query({ name: { toString: () => "read" } })`,
      `Deno.permissions.query({ name: ["read"] })`,
      `Deno.permissions.request({ name: "all" })`,
      `Deno.permissions.request({ name: "net", host: "a b" })`,
      `Deno.permissions.request({ name: "sys", kind: "nonsense" })`,
    ],
    sees: /Error|onchange/,
  },
  {
    name: "asks for more when nobody is there",
    body: `const states = []; for (const descriptor of [{ name: "read", path: "{{SECRET}}" }, { name: "read" }, { name: "write" }, { name: "net" }, { name: "env" }, { name: "run" }, { name: "sys" }, { name: "ffi" }, { name: "import" }]) states.push(await tell(async () => (await Deno.permissions.request(descriptor)).state));
      return { answer: [states, await tell(() => Deno.readTextFile("{{SECRET}}"))] };`,
    sees: /\[\["denied","denied","denied","denied","denied","denied","denied","denied","denied"\],"NotCapable/,
  },
  {
    name: "asks for what is denied, with a person who says yes to all",
    deny: "read={{OUTSIDE}} env net run",
    word: { said: "yes", scope: "always" },
    tries: [
      `Deno.readTextFile("{{SECRET}}")`,
      `Deno.permissions.request({ name: "read", path: "{{SECRET}}" }).then(() => Deno.readTextFile("{{SECRET}}"))`,
      `Deno.permissions.request({ name: "read" }).then(() => Deno.readTextFile("{{SECRET}}"))`,
      `Deno.permissions.request({ name: "env" }).then(() => Deno.env.get("CANARY_VALUE"))`,
      `fetch("http://127.0.0.1:{{SECRET_PORT}}/")`,
      `new Deno.Command("cat", { args: ["{{SECRET}}"] }).output()`,
    ],
    sees: DENIED,
  },
  {
    name: "asks for the kernel's files and the daemon's, with a person who says yes to all",
    word: { said: "yes", scope: "session" },
    tries: [
      `Deno.readTextFile("/proc/self/environ")`,
      `Deno.permissions.request({ name: "read", path: "/proc" }).then(() => Deno.readTextFile("/proc/self/environ"))`,
      `Deno.permissions.request({ name: "read" }).then(() => Deno.readTextFile("{{TOKEN}}"))`,
      `Deno.permissions.request({ name: "write" }).then(() => Deno.writeTextFile("{{HOOKS}}/evil.ts", "x"))`,
      `Deno.permissions.request({ name: "write", path: "{{HOOKS}}" }).then(() => Deno.writeTextFile("{{HOOKS}}/evil.ts", "x"))`,
    ],
    sees: DENIED,
  },
  {
    name: "uses what it has revoked",
    grant: "read={{HERE}} env=PLAIN",
    tries: [
      `Deno.permissions.revoke({ name: "read", path: "{{HERE}}/notes.txt" }).then(() => Deno.readTextFile("{{HERE}}/notes.txt"))`,
      `Deno.permissions.revoke({ name: "read" }).then(() => Deno.readTextFile("{{HERE}}/notes.txt"))`,
      `Deno.permissions.revoke({ name: "env", variable: "PLAIN" }).then(() => Deno.env.get("PLAIN"))`,
      `Deno.permissions.request({ name: "read" }).then(() => Deno.readTextFile("{{HERE}}/notes.txt"))`,
    ],
    sees: DENIED,
  },
  {
    name: "uses a yes for once a second time",
    word: { said: "yes", scope: "once" },
    body: `const state = (await Deno.permissions.request({ name: "read", path: "{{HERE}}/notes.txt" })).state;
      const first = await tell(() => Deno.readTextFile("{{HERE}}/notes.txt"));
      return { answer: [state, first, (await Deno.permissions.query({ name: "read", path: "{{HERE}}/notes.txt" })).state] };`,
    sees: /\["granted","harmless\\n","prompt"\]/,
  },
  {
    name: "grants itself a folder above by a descriptor that climbs",
    grant: "read={{HERE}}",
    tries: [
      `Deno.permissions.request({ name: "read", path: "{{HERE}}/../.." }).then(() => Deno.readTextFile("{{SECRET}}"))`,
      `Deno.permissions.request({ name: "read", path: new URL("file://{{OUTSIDE}}") }).then(() => Deno.readTextFile("{{SECRET}}"))`,
      `Deno.permissions.request({ name: "read", path: "/" }).then(() => Deno.readTextFile("{{SECRET}}"))`,
    ],
    sees: DENIED,
  },
  {
    name: "bends what judges inside of its isolate",
    body: `String.prototype.endsWith = String.prototype.startsWith = String.prototype.includes = () => true; Array.prototype.some = () => true; RegExp.prototype.test = () => false; Map.prototype.has = () => true; Map.prototype.get = () => "x"; Object.hasOwn = () => true;
      return { answer: [await tell(() => Deno.env.get("CANARY_VALUE")), await tell(() => Deno.env.toObject()), await tell(() => Deno.hostname()), await tell(() => Deno.readTextFile("{{SECRET}}"))] };`,
  },
  {
    name: "widens its view of the environment in its own isolate",
    grant: "env=PLAIN",
    body: `const status = await Deno.permissions.query({ name: "env", variable: "CANARY_VALUE" }); Object.prototype.CANARY_VALUE = "forged"; Array.prototype.includes = () => true; Object.prototype["*"] = 1;
      return { answer: [status.state, await tell(() => Deno.env.get("CANARY_VALUE"))] };`,
    sees: /prompt.*NotCapable/s,
  },
  {
    name: "takes facts that were not granted with one that was",
    grant: "sys=uid",
    tries: [`Deno.hostname()`, `Deno.osRelease()`, `Deno.systemMemoryInfo()`, `Deno.gid()`],
    sees: DENIED,
  },
  {
    name: "asks for what no grant names",
    tries: [
      `Deno.permissions.request({ name: "ffi" }).then(({ state }) => state)`,
      `Deno.permissions.request({ name: "import" }).then(({ state }) => state)`,
      `Deno.permissions.request({ name: "hrtime" }).then(({ state }) => state)`,
    ],
    sees: /denied|TypeError/,
  },
  {
    name: "stays below the level that its header names, whatever a person says",
    header: "level=write",
    word: { said: "yes", scope: "always" },
    tries: [
      `fetch("http://127.0.0.1:{{SECRET_PORT}}/")`,
      `Deno.permissions.request({ name: "net" }).then(() => fetch("http://127.0.0.1:{{SECRET_PORT}}/"))`,
      `new Deno.Command("cat", { args: ["{{SECRET}}"] }).output()`,
      `clawd.tool("shell", { command: "cat {{SECRET}}" })`,
    ],
    sees: DENIED,
  },
  {
    name: "is granted by a word that is not one",
    grant: "read=",
    tries: [`Deno.readTextFile("{{SECRET}}")`],
    sees: /broken|NotCapable/,
  },
  {
    name: "is granted everything by a word that Deno has for that",
    grant: "all",
    tries: [`Deno.readTextFile("{{SECRET}}")`],
    sees: /broken/,
  },
];
