import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Desk, quietDesk } from "../../core/domain/desk.ts";
import { fail, ok } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import type { ToolContext } from "../../core/domain/tool.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { openLocalNet } from "../../sandbox/egress/fixtures/local-net.ts";
import { memoryHit } from "../../tests/kit/memory-hit.ts";
import type { Asking } from "../fixtures/asking.ts";
import {
  bundleFixture,
  closeLab,
  type Lab,
  launcher,
  manifestOf,
  NOTHING_LEFT,
  openLab,
} from "../fixtures/plugin-lab.ts";
import { openPluginRecords, PLUGINS_JOURNAL } from "./plugin-records.ts";

const HITS = [memoryHit({ id: "n1", text: "the blue door" })];

type Answer = { readonly ok?: JsonObject; readonly error?: string; readonly message?: string };

const noBubblewrap = launcher.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping a test of confinement: ${launcher.detail}`);

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("asking.ts");
});
beforeEach(async () => {
  lab = await openLab({ recall: async () => ok(HITS) });
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

async function install(name: string, permissions: readonly string[] = [], always = lab.dir): Promise<void> {
  const manifest = manifestOf(name, {
    launch: { command: ["node", "main.mjs", always] },
    permissions: permissions.map((permission) => ({ permission, reason: "a test" })),
    limits: { concurrentCalls: 4 },
  });
  const installed = await lab.host.admin.install(lab.author(manifest, { "main.mjs": program }), true);
  if (!installed.ok) throw new Error(installed.failure.message);
}

/** Lets a plugin ask; gives what it was answered. */
async function asked(name: string, asking: Asking, context: Partial<ToolContext> = {}): Promise<readonly Answer[]> {
  const tool = lab.host.tools().find((one) => one.name === `plugin_${name}_act`);
  const outcome = await tool?.run(asking as JsonObject, {
    sessionId: "s1",
    callId: "c1",
    workspace: lab.dir,
    signal: new AbortController().signal,
    progress: () => {},
    desk: quietDesk(async () => ok(undefined)),
    ...context,
  });
  expect(outcome).toMatchObject({ status: "done" });
  return JSON.parse(outcome?.output ?? "") as Answer[];
}

/** A desk that does all it is asked, and what it was asked. */
function openHanded(change: Partial<Desk> = {}) {
  const heard: (readonly unknown[])[] = [];
  const decisions: PermissionDecision[] = [];
  const desk: Desk = {
    async record(decision) {
      decisions.push(decision);
      return ok(undefined);
    },
    ask: async () => ({ said: "nobody" }),
    async confirm(...given) {
      heard.push(given);
      return { said: "yes", scope: "once" };
    },
    toolName: (word) => (word === "cat" ? "read" : word),
    async callTool(...given) {
      heard.push(given);
      return ok("forty-two");
    },
    generate: quietDesk(async () => ok(undefined)).generate,
    ...change,
  };
  return { desk, heard, decisions };
}

async function decided(): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const events = lab.journal.read(PLUGINS_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
  for await (const { body } of events) if (body.case === "permissionDecided") found.push(body.value);
  return found;
}

const step = (rpc: string, request: JsonObject = {}, times = 1) => ({ rpc, request, times });

describe("what a plugin keeps", () => {
  test("every wire reaches the same store and artifacts, and they outlive process, daemon and reload", async () => {
    await install("keeper");
    for (const wire of ["grpc", "connect", "http1"] as const) {
      const answers = await asked("keeper", {
        wire,
        steps: [
          step("setValue", { key: wire, value: { n: [1, "ü", null] } }),
          step("getValue", { key: wire }),
          step("getValue", { key: "none" }),
          step("writeArtifact", { data: Buffer.from(wire).toString("base64"), mimeType: "text/plain" }),
          step("writeArtifact", { artifactId: "$last", data: Buffer.from("!").toString("base64") }),
          step("readArtifact", { artifactId: "$last", offsetBytes: 1 }),
        ],
      });
      expect(answers.slice(0, 3)).toEqual([
        { ok: {} },
        { ok: { found: true, value: { n: [1, "ü", null] } } },
        { ok: {} },
      ]);
      expect(answers[4]).toMatchObject({ ok: { sizeBytes: wire.length + 1 } });
      expect(answers[5]).toEqual({ ok: { data: Buffer.from(`${wire.slice(1)}!`).toString("base64") } });
    }
    await lab.reopen();
    const steps = [
      step("listKeys"),
      step("listKeys", { prefix: "gr" }),
      step("deleteValue", { key: "grpc" }),
      step("listKeys"),
    ];
    expect(await asked("keeper", { steps })).toEqual([
      { ok: { keys: ["connect", "grpc", "http1"] } },
      { ok: { keys: ["grpc"] } },
      { ok: {} },
      { ok: { keys: ["connect", "http1"] } },
    ]);
  });

  test("no plugin sees what another keeps, and what it kept goes with it", async () => {
    await install("one");
    await install("two");
    const data = Buffer.from("mine").toString("base64");
    const written = await asked("one", {
      steps: [step("setValue", { key: "k", value: "mine" }), step("writeArtifact", { data })],
    });
    const artifactId = String(written[1]?.ok?.artifactId);
    const look = [step("getValue", { key: "k" }), step("readArtifact", { artifactId })];
    expect(await asked("two", { steps: look })).toMatchObject([{ ok: {} }, { error: "NotFound" }]);
    expect(await asked("one", { steps: look })).toEqual([{ ok: { found: true, value: "mine" } }, { ok: { data } }]);
    expect(await lab.host.admin.remove("one")).toMatchObject({ ok: true });
    expect(existsSync(join(lab.options.artifactsDir, "one"))).toBe(false);
    await install("one");
    expect(await asked("one", { steps: look })).toMatchObject([{ ok: {} }, { error: "NotFound" }]);
  });

  test("keys, values and messages beyond the limits are refused, and nothing else suffers", async () => {
    await install("greedy");
    const big = "x".repeat(70_000);
    const [first, second, third, fourth, ...rest] = await asked("greedy", {
      steps: [
        step("setValue", { key: "", value: 1 }),
        step("setValue", { key: "big", value: big }),
        { ...step("setValue", { key: "huge" }), fill: ["value", 5 * 1024 * 1024] },
        step("setValue", { key: "none" }),
      ],
    });
    expect(rest).toEqual([]);
    expect([first?.error, second?.error, third?.error, fourth?.error]).toEqual([
      "InvalidArgument",
      "ResourceExhausted",
      "ResourceExhausted",
      "InvalidArgument",
    ]);
    const many = { ...step("setValue", { key: "k$n", value: 1 }, 1_050), atOnce: 100 };
    const answers = await asked("greedy", { wire: "connect", steps: [many] });
    expect(answers.slice(0, 1000)).toEqual(Array(1000).fill({ ok: {} }));
    expect(new Set(answers.slice(1000).map(({ error }) => error))).toEqual(new Set(["ResourceExhausted"]));
    expect(await asked("greedy", { steps: [step("getValue", { key: "k999" })] })).toEqual([
      { ok: { found: true, value: 1 } },
    ]);
  });

  test("an artifact's id is no path", async () => {
    await install("sly");
    const ids = ["../x", "../../grants/sly.json", "/etc/passwd", ".", "a".repeat(100_000)];
    const steps = ids.flatMap((artifactId) => [
      step("readArtifact", { artifactId }),
      step("writeArtifact", { artifactId, data: "aGk=" }),
    ]);
    const answers = await asked("sly", {
      steps: [...steps, { ...step("writeArtifact"), fill: ["data", 4 * 400_000] }],
    });
    expect(answers.map(({ error }) => error)).toEqual([...steps.map(() => "NotFound"), "ResourceExhausted"]);
    expect(existsSync(lab.options.artifactsDir)).toBe(false);
  });

  test("what was answered as kept is there after the daemon was killed", async () => {
    const always: Asking = { steps: [step("setValue", { key: "k", value: "kept" })] };
    await install("keeper", [], `${JSON.stringify(always)}`);
    await lab.host.close();
    const daemon = spawn(process.execPath, [join(import.meta.dirname, "../fixtures/doomed-host.ts"), lab.dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(daemon.stdout, "data")) as [Buffer];
    daemon.kill("SIGKILL");
    expect(String(said)).toBe('[{"ok":{}}]\n');
    await once(daemon, "exit");
    const journal = await openJournal({ dir: join(lab.dir, "doomed"), now: Date.now });
    if (!journal.ok) throw new Error(journal.failure.message);
    expect(await openPluginRecords(journal.value).get("keeper", "k")).toEqual({ ok: true, value: "kept" });
    await journal.value.close();
    // The killed one could not tidy up.
    for (const name of readdirSync(lab.options.runtimeDir))
      rmSync(join(lab.options.runtimeDir, name), { recursive: true });
  });
});

describe("what needs a permission", () => {
  test("memory is searched by whom it was granted, and either answer is in the journal first", async () => {
    await install("granted", ["memory=read"]);
    await install("bare");
    const steps = [step("recall", { query: "door" })];
    expect(await asked("granted", { steps })).toEqual([{ ok: { hits: [{ text: "the blue door", source: "n1" }] } }]);
    const [refused] = await asked("bare", { steps });
    expect(refused).toMatchObject({ error: "PermissionDenied" });
    expect(refused?.message).toMatch(/plugin "bare" may not use memory=read.*plugin\.json/);
    expect(await decided()).toMatchObject([
      {
        principal: "plugin:granted",
        permission: "memory=read",
        allowed: true,
        sourceHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { principal: "plugin:bare", permission: "memory=read", allowed: false },
    ]);
  });

  test("nothing is done that could not be written down", async () => {
    let searched = false;
    const recall = async () => {
      searched = true;
      return ok(HITS);
    };
    const records = { ...lab.options.records, decided: async () => fail("exhausted", "the disk is full") };
    await lab.reopen({ recall, records });
    await install("granted", ["memory=read", "tool=read"]);
    const { desk, heard } = openHanded({ record: async () => fail("exhausted", "the disk is full") });
    const steps = [step("recall", { query: "door" }), step("callTool", { callId: "$call", tool: "read" })];
    expect(await asked("granted", { steps }, { desk })).toMatchObject([
      { error: "ResourceExhausted", message: "the disk is full" },
      { error: "ResourceExhausted", message: "the disk is full" },
    ]);
    expect([searched, heard]).toEqual([false, []]);
  });

  test("a tool is called by whom it was granted, in its own name, and the conversation's journal has it", async () => {
    await install("caller", ["tool=read"]);
    const { desk, heard, decisions } = openHanded();
    const call = (tool: string) => step("callTool", { callId: "$call", tool, args: { path: "a" } });
    const [done, refused, empty] = await asked("caller", { steps: [call("read"), call("shell"), call("")] }, { desk });
    expect(done).toEqual({ ok: { text: "forty-two" } });
    expect(refused).toMatchObject({ error: "PermissionDenied" });
    expect(empty).toMatchObject({ error: "InvalidArgument" });
    expect(heard).toEqual([["plugin:caller", "read", { path: "a" }]]);
    expect(decisions).toMatchObject([
      { principal: "plugin:caller", permission: "tool=read", allowed: true },
      { principal: "plugin:caller", permission: "tool=shell", allowed: false },
    ]);
    expect(await decided()).toEqual([]);
  });

  test("an alias stands for the tool that it names: what was granted is the tool", async () => {
    await install("caller", ["tool=read"]);
    const { desk, heard, decisions } = openHanded();
    const steps = [step("callTool", { callId: "$call", tool: "cat", args: { path: "a" } })];
    expect(await asked("caller", { steps }, { desk })).toEqual([{ ok: { text: "forty-two" } }]);
    expect(heard).toEqual([["plugin:caller", "read", { path: "a" }]]);
    expect(decisions).toMatchObject([{ permission: "tool=read", allowed: true }]);
    await install("stranger", ["tool=cat"]);
    expect(await asked("stranger", { steps }, { desk })).toMatchObject([{ error: "PermissionDenied" }]);
  });

  test("a refused call is an answer, not an error of the wire", async () => {
    await install("caller", ["tool=read"]);
    const { desk } = openHanded({ callTool: async () => fail("denied", "the person said no", { hint: "ask again" }) });
    const steps = [step("callTool", { callId: "$call", tool: "read" })];
    expect(await asked("caller", { steps }, { desk })).toEqual([
      { ok: { text: "the person said no (ask again)", isError: true } },
    ]);
  });

  test.skipIf(noBubblewrap)("a connection that a plugin tried in vain is in the journal", async () => {
    const net = openLocalNet();
    const port = await net.serve("127.0.0.1", (_, response) => response.end("must not be reached"));
    const manifest = manifestOf("probe", { permissions: [{ permission: "net=127.0.0.1:9", reason: "a test" }] });
    const folder = lab.author(manifest, { "main.mjs": await bundleFixture("probing.ts") });
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
    const visit = `http://127.0.0.1:${port}/`;
    expect(await lab.call("plugin_probe_act", { visit })).toMatchObject({ output: "failed" });
    await lab.options.records.list("probe", "");
    expect(await decided()).toMatchObject([
      { principal: "plugin:probe", permission: `net=127.0.0.1:${port}`, allowed: false, sessionId: "" },
    ]);
    net.close();
  });

  test("a flood of what is denied is counted, not written", async () => {
    await install("flooder");
    const answers = await asked("flooder", { steps: [step("recall", { query: "x" }, 1000)] });
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(["PermissionDenied"]));
    await lab.host.close();
    // Comes after all that was written before it.
    await lab.options.records.list("flooder", "");
    const written = (await decided()) as { leftOut: number }[];
    expect(written.length).toBeLessThan(400);
    expect(written.reduce((sum, { leftOut }) => sum + leftOut + 1, 0)).toBe(1000);
  });
});

describe("what belongs to a call", () => {
  test("a question is shown harmless and in the plugin's name; nobody's word is no answer", async () => {
    await install("asker");
    const { desk, heard } = openHanded();
    const ask = (question: string) => step("ask", { callId: "$call", question });
    const steps = [ask(" Send\n\u202eit? "), ask(""), ask("x".repeat(501))];
    expect(await asked("asker", { steps }, { desk })).toMatchObject([
      { ok: { yes: true, answered: true } },
      { error: "InvalidArgument" },
      { error: "InvalidArgument" },
    ]);
    expect(heard).toEqual([["plugin:asker", "Send\\u{a}\\u{202e}it?", undefined]]);
    expect(await asked("asker", { steps: [ask("Anybody?")] })).toEqual([{ ok: {} }]);
  });

  test("no model answers a plugin that its owner gave no tokens", async () => {
    await install("asker");
    const { desk } = openHanded();
    const messages = [{ role: "user", parts: [{ text: "hello" }] }];
    const wanted = step("generate", { callId: "$call", messages, maxTokens: 5 });
    expect(await asked("asker", { steps: [wanted] }, { desk })).toMatchObject([{ error: "PermissionDenied" }]);
  });

  test("a thousand questions at once are ten, and the host goes on", async () => {
    await install("asker");
    const { desk, heard } = openHanded();
    const answers = await asked(
      "asker",
      { steps: [step("ask", { callId: "$call", question: "Well?" }, 1000)] },
      { desk },
    );
    expect(answers).toHaveLength(1000);
    expect(answers.filter((answer) => answer.ok !== undefined)).toHaveLength(10);
    expect(heard).toHaveLength(10);
    expect(await asked("asker", { steps: [step("listKeys")] })).toEqual([{ ok: {} }]);
  });

  test("progress is shown where the call came from", async () => {
    await install("teller");
    const lines: string[] = [];
    const context = { progress: (line: string) => void lines.push(line) };
    await asked("teller", { steps: [step("progress", { callId: "$call", text: "half way" })] }, context);
    expect(lines).toEqual(["half way"]);
  });

  test("a call that is over, another plugin's or made up is refused, whatever is asked", async () => {
    await install("one", ["tool=read"]);
    await install("two", ["tool=read"]);
    const { desk, heard } = openHanded();
    const steps = (callId: string) => [
      step("ask", { callId, question: "Well?" }),
      step("callTool", { callId, tool: "read" }),
      step("progress", { callId, text: "x" }),
    ];
    await asked("one", { steps: [] }, { callId: "c-old", desk });
    const refused = Array(3).fill({
      error: "NotFound",
      message: expect.stringContaining("not one of yours, or it is over"),
    });
    expect(await asked("one", { steps: steps("$before") }, { desk })).toEqual(refused);
    expect(await asked("one", { steps: steps("") }, { desk })).toEqual(refused);
    // While a call of the other one is under way.
    const inside = Promise.withResolvers<void>();
    const end = Promise.withResolvers<{ said: "nobody" }>();
    const waiting = openHanded({
      confirm: () => {
        inside.resolve();
        return end.promise;
      },
    });
    const running = asked(
      "two",
      { steps: [step("ask", { callId: "$call", question: "?" })] },
      { callId: "c-two", desk: waiting.desk },
    );
    await inside.promise;
    expect(await asked("one", { steps: steps("c-two") }, { desk })).toEqual(refused);
    end.resolve({ said: "nobody" });
    expect(await running).toEqual([{ ok: {} }]);
    expect([heard, waiting.heard]).toEqual([[], []]);
  });

  test("two conversations whose models gave the same id are never mixed up", async () => {
    await install("asker");
    const both = [openHanded(), openHanded({ confirm: async () => ({ said: "no", scope: "once" }) })];
    const answers = await Promise.all(
      both.map(({ desk }) => asked("asker", { steps: [step("ask", { callId: "$call", question: "?" }, 5)] }, { desk })),
    );
    expect(answers[0]).toEqual(Array(5).fill({ ok: { yes: true, answered: true } }));
    expect(answers[1]).toEqual(Array(5).fill({ ok: { answered: true } }));
  });
});

describe("the socket", () => {
  const socketOf = (index: number) =>
    join(lab.options.runtimeDir, readdirSync(lab.options.runtimeDir)[index] ?? "", "h.sock");

  test("a wrong token is turned away on every wire, whatever is asked", async () => {
    await install("liar", ["memory=read"]);
    for (const wire of ["grpc", "connect", "http1"] as const) {
      const steps = [step("listKeys"), step("recall", { query: "x" }), step("log", { message: "let me in" })];
      const answers = await asked("liar", { wire, token: "guess", steps });
      expect(answers.map(({ error }) => error)).toEqual(Array(3).fill("Unauthenticated"));
    }
    expect(await decided()).toEqual([]);
    const log = lab.host.admin.log("liar");
    expect(log.ok && log.value.join("\n")).not.toContain("let me in");
  });

  test("nonsense, silence and too many connections harm their own socket only", async () => {
    await install("one");
    await install("two");
    expect(await asked("one", { steps: [] })).toEqual([]);
    const mine = socketOf(0);
    const sockets = Array.from({ length: 100 }, () => connect(mine).on("error", () => {}));
    for (const socket of sockets.slice(0, 5)) socket.write("\x16\x03\x01 what is this\r\n\r\n");
    for (const socket of sockets.slice(5, 10)) socket.write("PRI * HTTP/2.0\r\n\r\nno, it is not\r\n\r\n");
    for (const socket of sockets.slice(10)) socket.write("P");
    // More than it takes are turned away at once.
    await new Promise<void>((many) => {
      let closed = 0;
      for (const socket of sockets) {
        socket.resume();
        socket.once("close", () => {
          closed += 1;
          if (closed === 50) many();
        });
      }
    });
    expect(await asked("two", { steps: [step("setValue", { key: "k", value: 1 })] })).toEqual([{ ok: {} }]);
    for (const socket of sockets) socket.destroy();
  });
});

test("a line for the log says how much it matters", async () => {
  await install("chatty");
  const steps = [step("log", { message: "odd", level: "LOG_LEVEL_WARNING" }), step("log", { message: "plain" })];
  expect(await asked("chatty", { steps })).toEqual([{ ok: {} }, { ok: {} }]);
  const log = lab.host.admin.log("chatty");
  const lines = log.ok ? log.value : [];
  expect(lines).toEqual(expect.arrayContaining(["log: warning odd", "log: info plain"]));
});
