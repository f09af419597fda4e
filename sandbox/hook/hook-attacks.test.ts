import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";

const EVENT = { tool: "shell", args: { command: "ls" } };

const ATTACKS: readonly (readonly [string, string, RegExp])[] = [
  ["loops for ever", "export default () => { for (;;); }", /ran for 200 ms/],
  [
    "loops in promises",
    "export default async () => { const f = () => Promise.resolve().then(f); await f(); }",
    /ran for 200 ms/,
  ],
  ["loops at its top level", "for (;;); export default () => {}", /ran for 200 ms|time/],
  ["never answers", "export default () => new Promise(() => {})", /waits for something that never comes/],
  [
    "answers too late",
    "/* 700ms */ export default () => new Promise((r) => setTimeout(r, 60_000))",
    /no answer within 700 ms/,
  ],
  [
    "fills an array",
    "export default () => { const a = []; for (;;) a.push(new Array(1e5).fill({})); }",
    /memory|200 ms|process/,
  ],
  [
    "fills a map",
    "export default async () => { const m = new Map(); for (let i = 0; ; i++) { m.set(i, {}); if (i % 1e4 === 0) await null; } }",
    /memory|200 ms|process/,
  ],
  ["asks for a huge array", "export default () => Array.from({ length: 2 ** 32 - 1 })", /memory|200 ms|process/],
  ["wedges a native call", "export default () => 'A\\u030a'.repeat(2e7).normalize()", /memory|process|200 ms/],
  [
    "wedges an array search",
    "export default () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    /process|200 ms/,
  ],
  ["throws a proxy", "export default () => { throw new Proxy({}, { get() { for (;;); } }); }", /ran for 200 ms/],
  [
    "rejects with a proxy that nobody catches",
    "export default async () => { Promise.reject(new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })); await new Promise((r) => setTimeout(r, 600)); }",
    /process|no answer/,
  ],
  ["returns a proxy", "export default () => new Proxy({}, { ownKeys() { throw 1; } })", /threw 1/],
  ["returns a huge string", "export default () => ({ block: 'x'.repeat(2 ** 24) })", /characters|ran for 200 ms/],
  ["returns a thing that is not JSON", "export default () => ({ answer: 10n })", /BigInt/],
  [
    "returns a deep thing",
    "export default () => { let a = []; for (let i = 0; i < 500; i++) a = [a]; return { answer: a }; }",
    /makes no sense/,
  ],
  ["returns an unknown answer", "export default () => ({ allow: true })", /returned a allow|not one of/],
  ["shrinks the value", "export default () => ({ modify: { tool: 'x' } })", /without "args"/],
  [
    "floods the bridge",
    "export default async () => { for (let i = 0; i < 1e5; i++) Deno.readTextFile('x').catch(() => {}); }",
    /messages|200 ms/,
  ],
  ["has no default export", "export const a = 1;", /no function as its default export/],
  ["does not parse", "export default (", /broken: .*\.ts:2:\d+/],
  ["imports a module of Node", "import 'node:net'; export default () => {}", /cannot be imported/],
  ["imports from outside", "import '../../../../../etc/hostname'; export default () => {}", /does not exist|outside/],
];

/** These are tried at the weaker level too; the rest differs in nothing there. */
const AT_EVERY_LEVEL = ["loops for ever", "fills a map", "asks for a huge array", "wedges an array search"];

describe.each(["auto", "none"] as const)("with a launcher of level %s", (wanted) => {
  let room: SandboxRoom;
  beforeAll(async () => {
    room = await openSandboxRoom({ wanted });
    if (wanted === "auto" && room.launcher.level === "none")
      console.info(`no bubblewrap here: ${room.launcher.detail}`);
  });
  afterAll(() => room.close());

  const fire = () => room.hooks.hooks.run(toolBefore(EVENT), conversation());
  const hook = (header: string, code: string) =>
    room.write("hooks/bad.ts", `/** @hook at=tool.before ${header} */\n${code}`);
  const attacks = ATTACKS.filter(([what]) => wanted === "auto" || AT_EVERY_LEVEL.includes(what));

  test.each(attacks)(
    "a hook that %s is stopped, blocks, and the next event works again",
    async (_what, code, because) => {
      await hook(code.startsWith("/* 700ms */") ? "timeout=700ms" : "", code);
      const { answer } = await fire();
      expect(answer).toMatchObject({ do: "block", because: expect.stringMatching(because) });
      await hook("", "export default () => ({ pass: true })");
      expect((await fire()).answer).toEqual({ do: "pass" });
    },
  );
});

describe("a hook cannot reach", () => {
  let room: SandboxRoom;
  beforeAll(async () => {
    room = await openSandboxRoom({ wanted: "auto", env: { HOME: "/root" } });
  });
  afterAll(() => room.close());

  const answerOf = async (code: string) => {
    await room.write("hooks/probe.ts", `/** @hook at=tool.before */\n${code}`);
    return (await room.hooks.hooks.run(toolBefore(EVENT), conversation())).answer;
  };

  test("anything of Node, of isolated-vm, of shared memory or of other realms", async () => {
    const names = [
      "process",
      "require",
      "module",
      "Buffer",
      "WebAssembly",
      "SharedArrayBuffer",
      "Atomics",
      "ivm",
      "$0",
      "clawdHear",
      "global",
      "XMLHttpRequest",
    ];
    const code = `export default async () => {
      const found = ${JSON.stringify(names)}.filter((name) => typeof (0, eval)("typeof " + name) === "string" && (0, eval)("typeof " + name) !== "undefined");
      const built = new Function("return typeof process + typeof require")();
      const imported = await import(["node", "fs"].join(":")).then(() => "imported", () => "refused");
      return { answer: { found, built, imported, globals: Object.keys(globalThis) } };
    }`;
    expect(await answerOf(code)).toEqual({
      do: "answer",
      result: {
        found: [],
        built: "undefinedundefined",
        imported: "refused",
        globals: [],
      },
    });
  });

  test("the prelude's functions or the host through stacks, callers and bent built-ins", async () => {
    const code = `export default async () => {
      const seen = [];
      Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFunction() === undefined, site.getThis() === undefined, site.getFileName()]);
      seen.push(...new Error().stack);
      Error.prepareStackTrace = undefined;
      Promise.prototype.catch = Promise.all = () => { throw 1; };
      JSON.stringify = () => { throw 2; };
      Array.prototype[Symbol.iterator] = () => { throw 3; };
      Object.prototype.toJSON = undefined;
      Object.prototype.do = "pass";
      Map.prototype.get = () => { throw 4; };
      return { answer: { leaks: seen.filter((site) => !site[0] || !site[1] || !/^clawd:|^$/.test(site[2] ?? '')).length } };
    }`;
    expect(await answerOf(code)).toEqual({ do: "answer", result: { leaks: 0 } });
  });

  test("the daemon's prototypes by what it returns", async () => {
    const code = `export default () => ({ answer: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":[1]}}') })`;
    const answer = await answerOf(code);
    expect(answer).toEqual({ do: "answer", result: { constructor: { prototype: { polluted: 1 } }, a: {} } });
    expect(Object.hasOwn((answer as unknown as { result: object }).result, "__proto__")).toBe(false);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("a terminal, by control characters in what people read", async () => {
    const answer = await answerOf("export default () => ({ block: '\\u001b[2Jred\\u202e\\u200b' })");
    expect(answer).toEqual({ do: "block", because: "\\u{1b}[2Jred\\u{202e}\\u{200b}" });
  });

  test("paths of this machine in the stacks of its errors", async () => {
    const answer = await answerOf("export default () => { throw new Error(new Error('x').stack) }");
    expect(JSON.stringify(answer)).not.toContain(room.folder);
    expect(JSON.stringify(answer)).not.toContain("node_modules");
  });
});
