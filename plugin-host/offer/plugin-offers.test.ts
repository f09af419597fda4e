import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import type { DocumentSource } from "../../core/domain/document-source.ts";
import { ok } from "../../core/domain/failure.ts";
import type { Prompt } from "../../core/domain/provider.ts";
import { blocksOf, collect, READ_NOTES, testProviderContract, userSays } from "../../tests/contracts/provider.ts";
import {
  bundleFixture,
  closeLab,
  type Lab,
  manifestOf,
  NOTHING_LEFT,
  openLab,
  shortPauses,
} from "../fixtures/plugin-lab.ts";

const live = () => new AbortController().signal;
let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("offering.ts");
  lab = await openOfferingLab();
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

async function openOfferingLab(mode = ""): Promise<Lab> {
  const opened = await openLab({ random: shortPauses });
  const named = (...names: string[]) => names.map((name) => ({ name, description: "For tests." }));
  const folder = opened.author(
    manifestOf("offer", {
      launch: { command: ["node", "main.mjs", opened.dir, mode] },
      modelProviders: [{ name: "parrot", defaultModel: "grey" }],
      embedders: [{ id: "three", dimensions: 3 }],
      memorySources: named("fruit", "twice", "nameless", "dying", "huge"),
      slashCommands: named("shout", "where", "ask", "nothing", "empty", "crash"),
    }),
    { "main.mjs": program },
  );
  const installed = await opened.host.admin.install(folder, true);
  if (!installed.ok) throw new Error(installed.failure.message);
  return opened;
}

function parrot() {
  const [provider] = lab.host.models();
  if (provider === undefined) throw new Error("no provider is offered");
  return provider;
}

const says = (text: string, model = ""): Prompt => ({ ...READ_NOTES, model, messages: [userSays(text)] });
const lastOf = async (text: string) => (await collect(parrot(), says(text))).at(-1);

testProviderContract("a plugin", async () => ({ provider: parrot(), close: async () => {} }));

describe("a plugin's model provider", () => {
  test("it starts with the first prompt and answers as the model that was asked for, or its default", async () => {
    expect(parrot()).toMatchObject({ name: "parrot", defaultModel: "grey" });
    expect(blocksOf(await collect(parrot(), says("hi")))).toEqual([{ kind: "text", text: "grey says hi" }]);
    expect(blocksOf(await collect(parrot(), says("hi", "red")))).toEqual([{ kind: "text", text: "red says hi" }]);
  });

  test("its own failure, its death, its errors and what breaks the protocol end the reply, each with its words", async () => {
    expect(await lastOf("fail")).toMatchObject({
      kind: "failed",
      failure: { code: "unavailable", message: 'model provider "parrot" of plugin "offer" failed: no quota' },
    });
    expect(await lastOf("die")).toMatchObject({
      failure: {
        code: "unavailable",
        message: expect.stringMatching(/plugin "offer" .*code 9.*model provider "parrot"/),
      },
    });
    expect(await lastOf("throw")).toMatchObject({
      failure: { code: "unavailable", message: expect.stringContaining("out of ideas") },
    });
    expect(await lastOf("twist")).toMatchObject({
      failure: { code: "invalid", message: expect.stringContaining("other words") },
    });
    expect(await lastOf("stop")).toMatchObject({
      failure: { code: "invalid", message: expect.stringContaining("without an end") },
    });
  });

  test("what comes after the end is not heard, and a prompt that is too large is refused", async () => {
    expect(await lastOf("more")).toMatchObject({ kind: "end", stop: "done" });
    expect(await lastOf("x".repeat(5 * 1024 * 1024))).toMatchObject({ failure: { code: "exhausted" } });
    expect(await lastOf("hi")).toMatchObject({ kind: "end" });
  });

  test("an abort reaches the plugin", async () => {
    const abort = new AbortController();
    for await (const chunk of parrot().stream(says("hang"), abort.signal)) {
      if (chunk.kind === "delta") abort.abort();
      else expect(chunk).toMatchObject({ kind: "failed", failure: { code: "cancelled" } });
    }
    await seeInLog("the reply was cancelled");
  });
});

async function seeInLog(text: string): Promise<void> {
  await expect
    .poll(() => {
      const log = lab.host.admin.log("offer");
      return log.ok && log.value.some((line) => line.includes(text));
    })
    .toBe(true);
}

describe("a plugin's embedder", () => {
  const embed = (texts: readonly string[], kind: "query" | "document" = "document", signal = live()) => {
    const embedder = lab.host.embedders()[0]?.embedder;
    if (embedder === undefined) throw new Error("no embedder is offered");
    return embedder.embed(texts, kind, signal);
  };

  test("texts go out in batches and come back as vectors, in their order", async () => {
    const texts = Array.from({ length: 600 }, (_, index) => "x".repeat(index));
    const vectors = await embed(texts);
    expect(vectors.ok && vectors.value.map(([length]) => length)).toEqual(texts.map((text) => text.length));
    expect(vectors.ok && [...new Set(vectors.value.map((vector) => vector[1]))]).toEqual([256, 88]);
    expect(await embed(["a"], "query")).toEqual(ok([Float32Array.of(1, 1, 1)]));
    expect(await embed([])).toEqual(ok([]));
  });

  test("long texts go out in batches that fit a message, and one that fits none is refused", async () => {
    const vectors = await embed(Array.from({ length: 8 }, () => "x".repeat(1024 * 1024)));
    expect(vectors.ok && vectors.value.map((vector) => vector[1])).toEqual([2, 2, 2, 2, 2, 2, 2, 2]);
    expect(await embed(["x".repeat(3 * 1024 * 1024)])).toMatchObject({ ok: false, failure: { code: "invalid" } });
  });

  test.each([
    ["few", /gave 1 vectors for 2 texts/],
    ["short", /1 numbers, its plugin.json says 3/],
    ["nan", /no number/],
  ])("an answer that is %s is refused", async (text, message) => {
    expect(await embed([text, "b"])).toMatchObject({
      ok: false,
      failure: { code: "invalid", message: expect.stringMatching(message) },
    });
  });

  test("it can be given up", async () => {
    expect(await embed(["a"], "query", AbortSignal.abort())).toMatchObject({ failure: { code: "cancelled" } });
  });
});

describe("a plugin's memory source", () => {
  async function read(name: string) {
    const source = lab.host.sources().find((one: DocumentSource) => one.name === `plugin:offer/${name}`);
    if (source === undefined) throw new Error(`no source ${name}`);
    const items = [];
    for await (const item of source.documents(live())) items.push(item);
    return items;
  }

  test("it gives its documents", async () => {
    expect(await read("fruit")).toEqual([
      ok({ id: "a", title: "The first", text: "apples" }),
      ok({ id: "b", title: "", text: "pears" }),
    ]);
  });

  test.each([
    ["twice", "invalid"],
    ["nameless", "invalid"],
    ["huge", "exhausted"],
    ["dying", "unavailable"],
  ])("one that is %s ends with a failure", async (name, code) => {
    expect((await read(name)).at(-1)).toMatchObject({ ok: false, failure: { code } });
  });
});

describe("a plugin's slash command", () => {
  const questions: string[] = [];
  const desk = {
    ...quietDesk(async () => ok(undefined)),
    confirm: async (principal: string, question: string) => {
      questions.push(`${principal} ${question}`);
      return { said: "yes", scope: "once" } as never;
    },
  };
  const run = (name: string, args = "", from = lab) => {
    const command = from.host.commands().find((one) => one.name === name);
    if (command === undefined) throw new Error(`no command ${name}`);
    return command.run({ args, sessionId: "s1", workspace: "/work", desk }, live());
  };

  test("what it says goes to the model, what it shows to the person", async () => {
    expect(await run("shout", "hello there")).toEqual(ok({ do: "say", text: "HELLO THERE" }));
    expect(await run("where", "am I")).toEqual(ok({ do: "show", text: "/work am I" }));
  });

  test("while it runs it may ask the person", async () => {
    expect(await run("ask", "really?")).toMatchObject({ ok: true, value: { do: "show" } });
    expect(questions).toEqual(["plugin:offer really?"]);
  });

  test.each([
    ["nothing", "invalid", /answered nothing/],
    ["empty", "invalid", /empty text/],
    ["crash", "unavailable", /plugin "offer" .*command "\/crash"/],
  ])("one that does %s fails with a clear message", async (name, code, message) => {
    expect(await run(name)).toMatchObject({ ok: false, failure: { code, message: expect.stringMatching(message) } });
    expect(await run("shout", "still there")).toMatchObject({ ok: true });
  });

  test("one that is declared but not served is the plugin's mistake", async () => {
    const other = await openOfferingLab("uncommanding");
    expect(await run("shout", "x", other)).toMatchObject({
      failure: { code: "invalid", message: expect.stringContaining("does not serve it") },
    });
    expect(await closeLab(other)).toEqual(NOTHING_LEFT);
  });
});

describe("the output of a plugin's tool", () => {
  const act = (args: Parameters<Lab["call"]>[1], progress: (line: string) => void = () => {}) =>
    lab.call("plugin_offer_act", args, { progress });

  test("it comes before the result's text, and its lines are shown while the tool runs", async () => {
    const shown: string[] = [];
    const outcome = await act({ text: "größe\n€ und\nmehr", result: "done" }, (line) => shown.push(line));
    expect(outcome).toEqual({ status: "done", output: "größe\n€ und\nmehr\ndone" });
    expect(shown.join("\n")).toBe("größe\n€ und");
  });

  test("a lot of it is kept in part, and too much of it ends the call but not the plugin", async () => {
    const much = await act({ mib: 15, result: "done" });
    expect(much.status).toBe("done");
    expect(much.output).toMatch(/\[… 15,466,496 bytes left out …\]/);
    expect(await act({ mib: 17 })).toMatchObject({
      status: "failed",
      failure: { code: "exhausted", message: "plugin_offer_act put out more than 16 MiB" },
    });
    expect(await act({ result: "fine" })).toEqual({ status: "done", output: "fine" });
  });

  test("many lines of progress are shown together", async () => {
    const shown: string[] = [];
    await act({ lines: 5_000, result: "done" }, (line) => shown.push(line));
    expect(shown.slice(0, 2)).toEqual(["line 0", "line 1"]);
    expect(shown.at(-1)?.split("\n").at(-1)).toBe("line 4999");
    expect(shown.length).toBeLessThan(200);
  });
});

test("the artifacts of a result are named to the model, and one that is not there is no secret", async () => {
  const keeper = `import { servePlugin, tool } from "clawd/plugin";
    const keep = tool({ name: "act", run: async (_args, { host }) => {
      const { id } = await host.artifacts.write("x".repeat(2_000_000), { mimeType: "text/csv" });
      return ["Kept.", { artifact: id }, { artifact: "gone\\n]" }];
    } });
    await servePlugin({ name: "keeper", version: "1.0.0", tools: [keep] });`;
  const launch = { command: ["node", "main.ts"] };
  const folder = lab.author(manifestOf("keeper", { launch, protocolMajors: [2] }), { "main.ts": keeper });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  const { output } = await lab.call("plugin_keeper_act");
  expect(output).toMatch(
    /^Kept\.\n\[artifact [0-9a-f]{32}, text\/csv, 2,000,000 bytes\]\n\[artifact gone\\u\{a\}\], which is not there\]$/,
  );
});

test("a plugin that is turned off offers nothing", async () => {
  await lab.host.admin.enable("offer", false);
  const { host } = lab;
  expect([host.models(), host.embedders(), host.sources(), host.commands()]).toEqual([[], [], [], []]);
  await lab.host.admin.enable("offer", true);
  expect(host.models()).toHaveLength(1);
});
