import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { fail, ok } from "../../core/domain/failure.ts";
import type { PersonsWord } from "../../core/domain/permission-decision.ts";
import { openEgress } from "../egress/egress.ts";
import { CALL_NAMES, type FetchOrder, type Json, type PermissionAnswer } from "../guest/guest-protocol.ts";
import { DECISIONS_PER_SECOND } from "./audit.ts";
import { type BrokerBench, openBrokerBench, WRITE } from "./fixtures/broker-bench.ts";

const open: BrokerBench[] = [];

async function bench(options: Parameters<typeof openBrokerBench>[0] = {}): Promise<BrokerBench> {
  const made = await openBrokerBench(options);
  open.push(made);
  return made;
}

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const says =
  (said: "yes" | "no", scope: "once" | "session" | "always" = "once") =>
  (): PersonsWord => ({ said, scope });

describe("decisions", () => {
  test("are written before anything is done, with what was wanted and what was found", async () => {
    let existedAtRecord: boolean | undefined;
    const room: BrokerBench = await bench({
      allow: ["read=in", "write=in"],
      folders: ["in/real"],
      links: { "in/link": "real" },
      canRecord: () => {
        existedAtRecord = existsSync(room.path("in/real/new"));
        return true;
      },
    });
    expect(await room.call("writeTextFile", { path: "in/link/new", data: "x", options: WRITE })).toBe(null);
    expect(existedAtRecord).toBe(false);
    expect(room.decisions).toMatchObject([
      {
        principal: "hook:bench",
        sourceHash: "ab".repeat(32),
        permission: `write=${room.path("in/link/new")}`,
        resolved: room.path("in/real/new"),
        allowed: true,
        by: "rule",
        because: `write=${room.path("in")}`,
        leftOut: 0,
      },
    ]);
    await room.call("readTextFile", { path: "/etc/hosts" });
    expect(room.decisions[1]).toMatchObject({
      permission: "read=/etc/hosts",
      resolved: "",
      allowed: false,
      by: "rule",
    });
    await room.call("rename", { from: "in/link/new", to: "in/new" });
    expect(room.decisions.slice(2).map(({ permission }) => permission)).toEqual([
      `read=${room.path("in/link/new")}`,
      `write=${room.path("in/link/new")}`,
      `write=${room.path("in/new")}`,
    ]);
  });

  test("that cannot be written down are not carried out", async () => {
    const calledTools: string[] = [];
    const room = await bench({
      allow: ["read", "write", "run", "net", "env", "tool", "memory"],
      files: { "in/a": "a" },
      env: { PATH: "/usr/bin:/bin", HOME: "/x" },
      canRecord: () => false,
      callTool: async (_, tool) => {
        calledTools.push(tool);
        return ok("");
      },
      memory: { search: async () => ok([]), remember: async () => ok("n") },
    });
    const fetchOrder: FetchOrder = {
      url: "http://127.0.0.1:9999/",
      method: "GET",
      headers: [],
      body: null,
      redirect: "follow",
    };
    const answers = [
      await room.call("readTextFile", { path: "in/a" }),
      await room.call("stat", { path: "in/a" }),
      await room.call("writeTextFile", { path: "in/b", data: "", options: WRITE }),
      await room.call("mkdir", { path: "in/c/d", recursive: true, mode: null }),
      await room.call("remove", { path: "in/a", recursive: false }),
      await room.call("rename", { from: "in/a", to: "in/e" }),
      await room.call("command", {
        program: "touch",
        args: ["in/f"],
        cwd: null,
        env: {},
        clearEnv: false,
        stdin: null,
      }),
      await room.call("callTool", { tool: "shell", args: {} }),
      await room.call("memorySearch", { query: "x", limit: 1 }),
      await room.call("memoryRemember", { text: "x" }),
      await room.call("fetch", fetchOrder),
    ];
    for (const answer of answers) expect(answer).toMatch(/^(Error|NotCapable): /);
    expect(answers[0]).toBe("Error: it was not done, because it could not be recorded");
    expect(await room.capabilities.open()).toBe(undefined);
    expect(calledTools).toEqual([]);
    expect(existsSync(room.path("in/a"))).toBe(true);
    for (const name of ["b", "c", "e", "f"]) expect(existsSync(room.path(`in/${name}`))).toBe(false);
    expect(room.capabilities.hadEffect).toBe(false);
  });

  test("above 200 a second are counted, and the count is not lost at the end", async () => {
    let nowMs = 0;
    const room = await bench({ allow: ["read=in"], files: { "in/a": "a" }, now: () => nowMs });
    for (let at = 0; at < DECISIONS_PER_SECOND + 50; at += 1) {
      expect(await room.call("readTextFile", { path: "in/a" })).toBe("a");
    }
    expect(room.decisions.length).toBe(DECISIONS_PER_SECOND);
    nowMs += 5;
    await room.call("readTextFile", { path: "in/a" });
    expect(room.decisions.at(-1)).toMatchObject({ leftOut: 50 });
    for (let at = 0; at < 3; at += 1) await room.call("readTextFile", { path: "in/a" });
    room.capabilities.attend(undefined);
    expect(room.decisions.at(-1)).toMatchObject({ leftOut: 2 });
    expect(room.decisions.length).toBe(DECISIONS_PER_SECOND + 2);
  });

  test("above 200 a second wait when they change something: none happens without its record", async () => {
    const remembered: string[] = [];
    const memory = {
      search: async () => ok([]),
      remember: async (text: string) => {
        remembered.push(text);
        return ok(text);
      },
    };
    const room = await bench({ allow: ["memory=write"], memory });
    const texts = Array.from({ length: DECISIONS_PER_SECOND + 20 }, (_, at) => `note ${at}`);
    expect(await Promise.all(texts.map((text) => room.call("memoryRemember", { text })))).toEqual(texts);
    expect(remembered).toEqual(texts);
    expect(room.decisions.map(({ leftOut }) => leftOut)).toEqual(texts.map(() => 0));
  });

  test("that still wait when their event ends are given up, and so is what they were about", async () => {
    let done = 0;
    const memory = {
      search: async () => ok([]),
      remember: async (text: string) => {
        done += 1;
        return ok(text);
      },
    };
    const room = await bench({ allow: ["memory=write"], memory });
    const remember = () => room.call("memoryRemember", { text: "note" });
    const first = Promise.all(Array.from({ length: DECISIONS_PER_SECOND }, remember));
    const late = Promise.all(Array.from({ length: 64 }, remember));
    await first;
    room.capabilities.attend(undefined);
    for (const answer of await late) expect(answer).toMatch(/^(note$|Error: it was not done)/);
    expect(room.decisions.length).toBe(done);
  });

  test("outside an event are not made: nothing happens then", async () => {
    const room = await bench({ allow: ["read=in"], files: { "in/a": "a" } });
    room.capabilities.attend(undefined);
    expect(await room.call("readTextFile", { path: "in/a" })).toMatch(/^Interrupted/);
    room.capabilities.attend(room.context);
    expect(await room.call("readTextFile", { path: "in/a" })).toBe("a");
    room.capabilities.close();
    expect(await room.call("readTextFile", { path: "in/a" })).toMatch(/^Interrupted/);
  });
});

describe("a question to a person", () => {
  const files = { "out/a": "a", "out/b": "b", "out/c": "c", "out/d": "d", "out/e": "e" };

  test("shows the real place, and a yes once opens it once", async () => {
    const room = await bench({ files, links: { door: "out" }, answer: says("yes") });
    expect(await room.call("readTextFile", { path: "door/a" })).toBe("a");
    expect(room.questions).toEqual([{ principal: "hook:bench", permission: `read=${room.path("out/a")}` }]);
    expect(await room.call("readTextFile", { path: "door/a" })).toBe("a");
    expect(room.questions.length).toBe(2);
    expect(room.decisions).toMatchObject([
      { allowed: true, by: "person", because: "yes, once", resolved: room.path("out/a") },
      { allowed: true, by: "person" },
    ]);
  });

  test("for the session opens exactly what was asked, and is remembered", async () => {
    const room = await bench({ files, links: { door: "out" }, answer: says("yes", "session") });
    expect(await room.call("readTextFile", { path: "door/a" })).toBe("a");
    expect(await room.call("readTextFile", { path: "door/a" })).toBe("a");
    expect(await room.call("readTextFile", { path: "out/a" })).toBe("a");
    expect(room.questions.length).toBe(1);
    expect(room.decisions[1]).toMatchObject({ by: "remembered" });
    expect(await room.call("readTextFile", { path: "out/b" })).toBe("b");
    expect(room.questions.length).toBe(2);
  });

  test("is not repeated after a no, and three of a kind end all of that kind", async () => {
    const room = await bench({ files, answer: says("no") });
    const refusal = 'NotCapable: Requires read access to "out/a", run again with the --allow-read=out/a flag';
    expect(await room.call("readTextFile", { path: "out/a" })).toBe(refusal);
    expect(await room.call("readTextFile", { path: "out/a" })).toBe(refusal);
    expect(room.questions.length).toBe(1);
    for (const path of ["out/b", "out/c", "out/d", "out/e"]) {
      expect(await room.call("readTextFile", { path })).toMatch(/^NotCapable/);
    }
    expect(room.questions.length).toBe(3);
    expect(room.decisions.at(-1)).toMatchObject({ by: "storm", allowed: false });
    await room.call("writeTextFile", { path: "out/a", data: "", options: WRITE });
    expect(room.questions.length).toBe(4);
  });

  test("that nobody answers reads to the guest like a no", async () => {
    const refused = await bench({ files, answer: says("no") });
    const unheard = await bench({ files, answer: () => ({ said: "nobody" }) });
    const path = "out/a";
    expect(await unheard.call("readTextFile", { path })).toBe(await refused.call("readTextFile", { path }));
    expect(unheard.decisions).toMatchObject([{ by: "nobody" }]);
  });

  test("is put alone, the others wait, and fifty at once give three", async () => {
    let openNow = 0;
    let mostOpen = 0;
    const room = await bench({
      files,
      async answer() {
        openNow += 1;
        mostOpen = Math.max(mostOpen, openNow);
        await new Promise((resolve) => setImmediate(resolve));
        openNow -= 1;
        return { said: "no", scope: "once" };
      },
    });
    const calls = Array.from({ length: 50 }, (_, at) => room.call("readTextFile", { path: `out/${at}` }));
    expect(new Set((await Promise.all(calls)).map((answer) => String(answer).split(":")[0]))).toEqual(
      new Set(["NotCapable"]),
    );
    expect(mostOpen).toBe(1);
    expect(room.questions.length).toBe(3);
  });

  test("is not put when nobody may be asked, when it is denied, never granted or too long, and is shown escaped", async () => {
    const silent = await bench({ files, mayAsk: false, answer: says("yes") });
    expect(await silent.call("readTextFile", { path: "out/a" })).toMatch(/^NotCapable/);
    expect(silent.questions).toEqual([]);
    const room = await bench({ files, deny: ["read=out/b"], answer: says("yes"), hidden: ["/root"] });
    const denied = ["out/b", "/proc/version", "/root/x", `out/${"x/".repeat(700)}`];
    for (const path of denied) expect(await room.call("readTextFile", { path })).toMatch(/^NotCapable/);
    expect(room.questions).toEqual([]);
    await room.call("readTextFile", { path: "out/\u202eevil\u001b[2J" });
    expect(room.questions[0]?.permission).toBe(`read=${room.path("out/")}\\u{202e}evil\\u{1b}[2J`);
  });

  test("counts as open while it waits, and a closed guest's is nobody's", async () => {
    const asked = Promise.withResolvers<void>();
    const room = await bench({
      files,
      answer: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const reading = room.call("readTextFile", { path: "out/a" });
    await asked.promise;
    expect(room.capabilities.asking).toBe(1);
    room.capabilities.close();
    expect(await reading).toMatch(/^NotCapable/);
    expect(room.capabilities.asking).toBe(0);
  });

  test("that was answered for good is not put again", async () => {
    const room = await bench({
      files,
      answer: says("yes"),
      remembered: [
        { permission: "read=out/a", allowed: true },
        { permission: "read=out/b", allowed: false },
      ],
    });
    expect(await room.call("readTextFile", { path: "out/a" })).toBe("a");
    expect(await room.call("readTextFile", { path: "out/b" })).toMatch(/^NotCapable: .*run again with/);
    expect(room.questions).toEqual([]);
    expect(room.decisions).toMatchObject([{ by: "remembered" }, { by: "remembered", allowed: false }]);
  });
});

describe("Deno.permissions", () => {
  const state = async (room: BrokerBench, call: "query" | "request" | "revoke", name: string, value: string | null) => {
    const answer = await room.call(`${call}Permission`, { name, value });
    if (typeof answer === "string") return answer;
    const { state: said, partial } = answer as unknown as PermissionAnswer;
    return partial ? `${said}, in part` : said;
  };

  test("query tells how it stands and asks nobody", async () => {
    const room = await bench({
      allow: ["read=in", "run=echo"],
      deny: ["read=in/x"],
      folders: ["in"],
      answer: says("yes"),
    });
    expect(await state(room, "query", "read", "in")).toBe("granted, in part");
    expect(await state(room, "query", "read", "in/y")).toBe("granted");
    expect(await state(room, "query", "read", "in/x/y")).toBe("denied");
    expect(await state(room, "query", "read", null)).toBe("prompt");
    expect(await state(room, "query", "run", "/usr/bin/echo")).toBe("granted");
    expect(await state(room, "query", "ffi", null)).toBe("denied");
    expect(await state(room, "query", "nonsense", null)).toMatch(
      /^TypeError: The provided value "nonsense" is not a valid/,
    );
    expect(await state(room, "query", "net", "http://x")).toMatch(/^URIError/);
    expect(room.questions).toEqual([]);
  });

  test("request asks once, and what it got is used up, stays or is handed over", async () => {
    let scope: "once" | "session" = "once";
    const room = await bench({
      files: { "out/a": "a" },
      env: { SHOWN: "value" },
      answer: () => ({ said: "yes", scope }),
    });
    expect(await state(room, "request", "read", "out/a")).toBe("granted");
    expect(await state(room, "query", "read", "out/a")).toBe("granted");
    expect(await room.call("readTextFile", { path: "out/a" })).toBe("a");
    expect(room.questions.length).toBe(1);
    expect(await state(room, "query", "read", "out/a")).toBe("prompt");
    scope = "session";
    expect(await state(room, "request", "read", "out/a")).toBe("granted");
    expect(await room.call("readTextFile", { path: "out/a" })).toBe("a");
    expect(await room.call("readTextFile", { path: "out/a" })).toBe("a");
    expect(room.questions.length).toBe(2);
    const handed = (await room.call("requestPermission", {
      name: "env",
      value: "SHOWN",
    })) as unknown as PermissionAnswer;
    expect(handed.env.values).toEqual({ SHOWN: "value" });
  });

  test("request that nobody may answer is denied, and stays to be asked for", async () => {
    const room = await bench({ mayAsk: false });
    expect(await state(room, "request", "read", "/etc")).toBe("denied");
    expect(await state(room, "query", "read", "/etc")).toBe("prompt");
    expect(room.decisions).toMatchObject([{ permission: "read=/etc", allowed: false }]);
  });

  test("revoke closes it under every name, and narrows what is handed over", async () => {
    const room = await bench({
      allow: ["read=door", "env=SHOWN"],
      files: { "out/a": "a" },
      links: { door: "out" },
      env: { SHOWN: "1" },
    });
    expect(await room.call("readTextFile", { path: "door/a" })).toBe("a");
    expect(await state(room, "revoke", "read", "door")).toBe("prompt");
    expect(await room.call("readTextFile", { path: "door/a" })).toMatch(/^NotCapable/);
    expect(await room.call("readTextFile", { path: "out/a" })).toMatch(/^NotCapable/);
    const left = (await room.call("revokePermission", { name: "env", value: "SHOWN" })) as unknown as PermissionAnswer;
    expect(left.env.values).toEqual({});
  });
});

describe("what is handed over at the start", () => {
  test("is what the grant opens, secrets by exact name only, and is one decision", async () => {
    const env = { A: "1", B_ONE: "2", B_TOKEN: "s", MY_KEY: "k", OTHER: "o", UNSET: undefined };
    const room = await bench({
      allow: ["env=A,B_*,MY_KEY,UNSET", "sys=hostname"],
      env,
      sysFacts: () => ({ hostname: "box", uid: 0 }),
    });
    const views = await room.capabilities.open();
    expect(views?.env.values).toEqual({ A: "1", B_ONE: "2", MY_KEY: "k" });
    expect(views?.sys).toEqual({ hostname: "box" });
    expect(room.decisions.length).toBe(1);
    expect(room.decisions[0]).toMatchObject({ allowed: true, resolved: "A B_ONE MY_KEY hostname" });
    expect(JSON.stringify(room.decisions)).not.toContain('"k"');
    const all = await bench({ allow: ["env"], env });
    expect((await all.capabilities.open())?.env.values).toEqual({ A: "1", B_ONE: "2", OTHER: "o" });
    const none = await bench({ env });
    expect(await none.capabilities.open()).toMatchObject({ env: { values: {} }, sys: {} });
    expect(none.decisions).toEqual([]);
  });
});

describe("store, memory and tools", () => {
  test("the store is the hook's own, and its failures are told by name", async () => {
    const kept = new Map<string, Json>();
    const room = await bench({
      store: {
        get: async (key) => ok(kept.get(key)),
        async set(key, value) {
          if (key === "full") return fail("exhausted", "the store is full");
          kept.set(key, value);
          return ok(undefined);
        },
        async delete(key) {
          kept.delete(key);
          return ok(undefined);
        },
        list: async (prefix) => ok([...kept.keys()].filter((key) => key.startsWith(prefix))),
      },
    });
    expect(await room.call("storeGet", { key: "a" })).toBe(null);
    expect(room.capabilities.hadEffect).toBe(false);
    expect(await room.call("storeSet", { key: "a", value: { b: [1] } })).toBe(null);
    expect(room.capabilities.hadEffect).toBe(true);
    expect(await room.call("storeGet", { key: "a" })).toEqual({ b: [1] });
    expect(await room.call("storeList", { prefix: "" })).toEqual(["a"]);
    expect(await room.call("storeDelete", { key: "a" })).toBe(null);
    expect(await room.call("storeSet", { key: "full", value: 1 })).toBe("RangeError: the store is full");
    expect(await (await bench()).call("storeGet", { key: "a" })).toMatch(/^NotSupported/);
  });

  test("memory needs its grant, and gives no more than a hit's place and text", async () => {
    const hit = { id: "1", path: "/n.md", line: 2, text: "t", score: 9, author: "owner" };
    const memory = { search: async () => ok([hit]), remember: async () => ok("n1") };
    const room = await bench({ allow: ["memory=read"], memory });
    expect(await room.call("memorySearch", { query: "q", limit: 3 })).toEqual([
      { id: "1", path: "/n.md", line: 2, text: "t" },
    ]);
    expect(await room.call("memoryRemember", { text: "x" })).toMatch(/^NotCapable: Requires memory access to "write"/);
    const writer = await bench({ allow: ["memory=write"], memory });
    expect(await writer.call("memoryRemember", { text: "x" })).toBe("n1");
    expect(await writer.call("memorySearch", { query: "q", limit: 3 })).toMatch(/^NotCapable/);
  });

  test("a tool is called in the guest's name when it is granted", async () => {
    const called: unknown[] = [];
    const room = await bench({
      allow: ["tool=mem*,read"],
      deny: ["tool=memory_write"],
      aliases: { cat: "read", mem_put: "memory_write" },
      callTool: async (...call) => {
        called.push(call);
        return call[1] === "read" ? fail("denied", "the person said no") : ok("found");
      },
    });
    expect(await room.call("callTool", { tool: "memory_search", args: { q: "x" } })).toBe("found");
    expect(await room.call("callTool", { tool: "read", args: {} })).toBe("NotCapable: the person said no");
    expect(await room.call("callTool", { tool: "memory_write", args: {} })).toMatch(/^NotCapable/);
    expect(await room.call("callTool", { tool: "mem_put", args: {} })).toMatch(/^NotCapable/);
    expect(await room.call("callTool", { tool: "cat", args: {} })).toBe("NotCapable: the person said no");
    expect(await room.call("callTool", { tool: "shell", args: {} })).toMatch(
      /^NotCapable: Requires tool access to "shell"/,
    );
    expect(await room.call("callTool", { tool: "mem*", args: {} })).toMatch(/^TypeError/);
    expect(called).toEqual([
      ["hook:bench", "memory_search", { q: "x" }],
      ["hook:bench", "read", {}],
      ["hook:bench", "read", {}],
    ]);
  });
});

describe("fetch", () => {
  const order = (url: string, more: Partial<FetchOrder> = {}): FetchOrder => ({
    url,
    method: "GET",
    headers: [],
    body: null,
    redirect: "follow",
    ...more,
  });

  test("reaches what is granted, hop by hop and address by address, and writes each down", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/away") response.writeHead(302, { location: "http://elsewhere.test/" }).end();
      else response.end(`${request.method} ok`);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const egress = openEgress({ ownAddresses: () => [], resolve: async () => ["127.0.0.1"] });
    try {
      const here = `127.0.0.1:${port}`;
      const room = await bench({ allow: [`net=${here}`, `net=inner.test:${port}`], egress });
      expect(await room.call("fetch", order(`http://${here}/`))).toMatchObject({ status: 200, body: btoa("GET ok") });
      expect(room.capabilities.hadEffect).toBe(false);
      expect(room.decisions).toMatchObject([{ permission: `net=${here}`, resolved: "127.0.0.1", allowed: true }]);
      expect(await room.call("fetch", order(`http://${here}/`, { method: "POST" }))).toMatchObject({
        body: btoa("POST ok"),
      });
      expect(room.capabilities.hadEffect).toBe(true);
      expect(await room.call("fetch", order(`http://${here}/away`))).toBe(
        'NotCapable: Requires net access to "elsewhere.test:80", run again with the --allow-net=elsewhere.test:80 flag',
      );
      expect(await room.call("fetch", order("http://example.com/"))).toMatch(
        /^NotCapable: Requires net access to "example.com:80"/,
      );
      const named = await bench({ allow: ["net=inner.test"], egress });
      const refusal = await named.call("fetch", order(`http://inner.test:${port}/`));
      expect(refusal).toMatch(/^NotCapable: Requires net access to the address that "inner.test:\d+" leads to/);
      expect(refusal).not.toContain("127.0.0.1");
      expect(named.decisions).toMatchObject([
        { permission: `net=inner.test:${port}`, resolved: "127.0.0.1", allowed: false },
      ]);
    } finally {
      egress.close();
      server.close();
    }
  });

  test("fails as Deno's does, and can be given up", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const room = await bench({ allow: ["net=127.0.0.1"] });
    try {
      expect(await room.call("fetch", order("ftp://127.0.0.1/"))).toMatch(/^TypeError/);
      expect(await room.call("fetch", order("nonsense"))).toMatch(/^TypeError/);
      expect(await room.call("fetch", order("http://127.0.0.1:1/"))).toMatch(/^TypeError/);
      const hanging = room.capabilities.call(500, "fetch", order(`http://127.0.0.1:${port}/`) as unknown as Json);
      await once(server, "request");
      await room.raw("abort", { call: 500 });
      expect(await hanging).toMatchObject({ ok: false, error: { name: "Interrupted" } });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("a hostile guest's arguments", () => {
  const HOSTILE: readonly Json[] = [
    null,
    true,
    0,
    -1,
    1e308,
    "",
    "x",
    [],
    ["a"],
    {},
    { toString: "x" },
    { length: 1 },
    JSON.parse('{"__proto__": {"path": "/etc/passwd"}}'),
    JSON.parse('{"constructor": {"prototype": {}}}'),
  ];
  const FIELDS = [
    "path",
    "data",
    "options",
    "recursive",
    "mode",
    "from",
    "to",
    "url",
    "method",
    "headers",
    "body",
  ].concat(
    ["redirect", "call", "program", "args", "cwd", "env", "clearEnv", "stdin", "name", "value", "key", "prefix"],
    ["query", "limit", "text", "tool", "append", "create", "createNew"],
  );

  test("are refused field by field: every call answers, none with a stack, and nothing is touched", async () => {
    const room = await bench({ allow: ["read=in", "write=in"], files: { "in/a": "a" } });
    const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
    for (const name of CALL_NAMES) {
      const shapes: Json[] = [...HOSTILE];
      for (const value of HOSTILE) shapes.push(Object.fromEntries(FIELDS.map((field) => [field, value])));
      for (const args of shapes) {
        const answer = await room.raw(name, args);
        if (answer.ok) continue;
        expect(answer.error.name).toMatch(/^[A-Za-z]+$/);
        expect(answer.error.message).not.toMatch(/\n\s+at |\/work\/|node:/);
        expect(answer.error.message).not.toBe("the call could not be served");
      }
    }
    for (const name of ["toString", "__proto__", "constructor", "nothing"]) {
      expect(await room.raw(name as "stat", {})).toMatchObject({ ok: false, error: { name: "TypeError" } });
    }
    expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(before);
    expect(await room.call("readTextFile", { path: "in/a" })).toBe("a");
  });

  test("own fields alone count, and numbers and bytes are what they say", async () => {
    const room = await bench({ allow: ["read=in", "write=in"], files: { "in/a": "a" } });
    const inherited = JSON.parse('{"__proto__": {"path": "in/a"}}') as Json;
    expect(await room.raw("readTextFile", inherited)).toMatchObject({ error: { message: "path must be a string" } });
    const bad = { path: "in/b", data: "not base64!", options: WRITE };
    expect(await room.call("writeFile", bad)).toBe("TypeError: data must be base64");
    expect(await room.call("mkdir", { path: "in/c", recursive: false, mode: 1.5 })).toMatch(/^TypeError: mode must be/);
    expect(await room.call("memorySearch", { query: "x", limit: 1e9 })).toMatch(/^TypeError: limit must be/);
    expect(existsSync(room.path("in/b"))).toBe(false);
  });
});
