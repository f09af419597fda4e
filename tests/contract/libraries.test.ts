import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Desk, quietDesk, type WordsWanted } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import type { Prompt } from "../../core/domain/provider.ts";
import type { SlashWords } from "../../core/domain/slash-command.ts";
import { closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";
import type { AdoptedPlugin } from "../../plugin-host/manifest/adopted-plugin.ts";
import { readManifest } from "../../plugin-host/manifest/read-manifest.ts";
import { settingsFor } from "../../plugin-host/manifest/settings.ts";
import { blocksOf, collect, READ_NOTES, userSays } from "../contracts/provider.ts";
import { WIDE_PLUGINS } from "./wide-plugins.ts";

/** Of a first build in a language that is compiled, on a busy machine. */
const BUILD_TIMEOUT_MS = 600_000;
const START_TIMEOUT_MS = 60_000;
/** The same program as the owner wrote it down in a file, with tokens to spend. */
const PAID = "wide_paid";
const TOOLS = ["offer", "secret", "generate", "form", "finely", "artifact", "tell"];

const quiet = () => quietDesk(async () => ok(undefined));

describe.each(WIDE_PLUGINS)("the library for $title", ({ title, command, files, readable, missing }) => {
  if (missing !== undefined) {
    process.stderr.write(`skipped: the library for ${title}: ${missing}\n`);
    test.skip("does all that the one for TypeScript does", () => {});
    return;
  }
  let lab: Lab;
  let settings: JsonObject = { offers: ["hello"] };
  let paid: AdoptedPlugin;
  beforeAll(async () => {
    lab = await openLab({ settings: async (plugin) => settingsFor(plugin, settings, "config.toml") });
    const folder = lab.author(
      manifestOf("wide", {
        protocolMajors: [1, 2],
        launch: { command: [...command], startTimeoutMs: START_TIMEOUT_MS },
        tools: TOOLS.map((name) => ({ name, description: "Acts.", inputSchema: { type: "object" } })),
        modelProviders: [{ name: "limits", defaultModel: "x" }],
        permissions: readable.map((path) => ({ permission: `read=${path}`, reason: "its packages" })),
        configSchema: {
          type: "object",
          properties: { offers: { type: "array", items: { type: "string" } }, restart: { type: "boolean" } },
        },
        dynamic: true,
      }),
      await files(),
    );
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
    const read = readManifest(folder);
    if (!read.ok) throw new Error(read.failure.message);
    const { manifest, sha256 } = read.value;
    // As those of servers of MCP are, whose failures tell of their finer words.
    const toolStyle = { ...manifest.toolStyle, category: "mcp", prefix: `${PAID}_` } as const;
    paid = {
      manifest: {
        ...{ ...manifest, name: PAID, toolStyle, modelProviders: [] },
        tools: manifest.tools.map((one) => ({ ...one, fullName: `${PAID}_${one.name}` })),
      },
      ...{
        folder,
        settings: {},
        programs: [folder, ...readable],
        secrets: [],
        sha256,
        source: "a file",
        trusted: false,
      },
      ...{ enabled: true, missing: undefined, generation: { tokensPerDay: 1_000, asks: false } },
    };
    await lab.host.adopted.adopt([paid]);
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  });

  const call = (tool: string, args: JsonObject = {}, desk: Desk = quiet()) =>
    lab.call(`plugin_wide_${tool}`, args, { desk });
  const answer = async (tool: string, args: JsonObject = {}, desk: Desk = quiet()) => {
    const outcome = await call(tool, args, desk);
    expect(outcome).toMatchObject({ status: "done" });
    return JSON.parse(outcome.output);
  };
  const linesOf = (plugin: string): readonly string[] => {
    const log = lab.host.admin.log(plugin);
    return log.ok ? log.value : [];
  };
  const offered = () =>
    lab.host
      .tools()
      .filter(({ name }) => name.startsWith("plugin_wide_") && !TOOLS.includes(name.slice("plugin_wide_".length)))
      .map(({ name, description }) => `${name}: ${description}`);
  const commandOf = (word: string) => lab.host.commands().find((one) => one.name === `plugin_wide_${word}`);
  const run = (word: string, args: string, more: Partial<SlashWords> = {}) =>
    commandOf(word)?.run(
      { args, ...more, sessionId: "s1", workspace: "/work", desk: quiet() },
      new AbortController().signal,
    );

  test("offers tools and commands at its start already", async () => {
    expect(await call("tell")).toMatchObject({ status: "done" });
    expect(offered()).toEqual(["plugin_wide_hello: Says hello."]);
    expect(await call("hello", { text: "you" })).toMatchObject({ status: "done", output: "hello: you" });
  });

  test("tools and commands come, change and go while it runs", async () => {
    expect(await answer("offer", { words: ["one", "two", "one"] })).toEqual({
      names: ["plugin_wide_one", "plugin_wide_two", ""],
      problems: [expect.stringContaining("one"), expect.stringContaining("one")],
    });
    expect(offered()).toEqual(["plugin_wide_one: Says one.", "plugin_wide_two: Says two."]);
    expect(await call("two", { text: "zwei" })).toMatchObject({ status: "done", output: "two: zwei" });
    expect(await run("one", "eins")).toEqual(ok({ do: "show", text: "one: eins" }));
    await answer("offer", { words: ["two", "three"], loud: true });
    expect(offered()).toEqual(["plugin_wide_two: Says two loudly.", "plugin_wide_three: Says three loudly."]);
    expect(await call("three", { text: "drei" })).toMatchObject({ status: "done", output: "three: drei" });
    expect(await run("one", "eins")).toBe(undefined);
    expect(await run("three", "drei")).toEqual(ok({ do: "show", text: "three: drei" }));
    const [two] = lab.host.tools().filter(({ name }) => name === "plugin_wide_two");
    expect(two?.input).toMatchObject({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });
  });

  test("a command takes arguments by name, and gives messages to whoever takes them", async () => {
    await answer("offer", { words: ["named"] });
    expect(commandOf("named")?.takes).toEqual([{ name: "rest", description: "What follows", required: true }]);
    const text = "named: by name";
    expect(await run("named", "in words", { named: { rest: "by name" }, whole: true })).toEqual(
      ok({ do: "show", text, messages: [{ role: "user", content: { type: "text", text } }] }),
    );
    expect(await run("named", "in words", { named: { rest: "by name" } })).toEqual(ok({ do: "show", text }));
  });

  test("what it offered last is there before it runs again, and is served when it does", async () => {
    await answer("offer", { words: ["again"] });
    await lab.reopen();
    await lab.host.adopted.adopt([paid]);
    expect(offered()).toEqual(["plugin_wide_again: Says again."]);
    expect(await call("again", { text: "and again" })).toMatchObject({ status: "done", output: "again: and again" });
    // What is the same is taken for the same, so that nobody is asked about it.
    expect(linesOf("wide").filter((line) => line.includes("describes otherwise"))).toEqual([]);
    expect(await run("again", "now")).toEqual(ok({ do: "show", text: "again: now" }));
  });

  test("refuses settings in its own words, takes others, or asks for a restart", async () => {
    await call("tell");
    settings = { offers: ["refuse"] };
    expect(await lab.host.admin.reload("wide")).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining("never that word") },
    });
    settings = { offers: [], restart: true };
    expect(await lab.host.admin.reload("wide")).toMatchObject({ ok: true });
    expect(await call("again", { text: "here" })).toMatchObject({ status: "done", output: "again: here" });
    const starts = linesOf("wide").filter((line) => line.startsWith("host: started wide"));
    expect(new Set(starts).size).toBeGreaterThan(1);
  });

  test("keeps secrets and takes them out", async () => {
    expect(await answer("secret", { value: "a very long secret" })).toEqual([true, null]);
  });

  test("adds to an artifact and reads a part of it", async () => {
    expect(await call("artifact")).toMatchObject({ status: "done", output: "cde" });
  });

  test("asks the person to fill in a form", async () => {
    const asked: unknown[] = [];
    const saying = (word: Awaited<ReturnType<Desk["confirm"]>>): Desk => ({
      ...quiet(),
      confirm: async (_principal, question, schema) => {
        asked.push(question, schema);
        return word;
      },
    });
    const yes = { said: "yes", scope: "once", content: { name: "Ada", age: 36, size: "large" } } as const;
    expect(await answer("form", {}, saying(yes))).toEqual([true, true, "Ada", 36, "large"]);
    expect(asked).toEqual([
      "who is it for?",
      expect.objectContaining({
        properties: expect.objectContaining({
          name: expect.objectContaining({ type: "string" }),
          age: expect.objectContaining({ type: "integer" }),
          size: expect.objectContaining({ type: "string", enum: ["small", "large"] }),
        }),
        required: ["name", "size"],
      }),
    ]);
    const some = { ...yes, content: { name: "Ada", size: "small" } };
    expect(await answer("form", {}, saying(some))).toEqual([true, true, "Ada", null, "small"]);
    expect(await answer("form", {}, saying({ said: "no", scope: "once" }))).toEqual([false, true, null, null, null]);
    expect(await answer("form")).toEqual([false, false, null, null, null]);
  });

  test("a failure says whether the same may succeed later, in finer words", async () => {
    expect(await call("finely")).toMatchObject({
      status: "failed",
      failure: { code: "exhausted", hint: "wait a minute" },
    });
    expect(await lab.call(`${PAID}_finely`)).toMatchObject({
      failure: { code: "exhausted", category: "too_eager", retryable: true },
    });
  });

  test("logs at levels", async () => {
    await call("tell");
    const lines = linesOf("wide");
    expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/debug.*a small thing/i)]));
    expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/warning.*an odd thing/i)]));
  });

  test("its model hears how long its answer may be, and says that another try is worth it", async () => {
    const [provider] = lab.host.models();
    if (provider === undefined) throw new Error("no provider is offered");
    const ask = (text: string, maxTokens?: number) => {
      const prompt: Prompt = { ...READ_NOTES, model: "", messages: [userSays(text)] };
      return collect(provider, maxTokens === undefined ? prompt : { ...prompt, maxTokens });
    };
    expect(blocksOf(await ask("hi", 77))).toMatchObject([{ kind: "text", text: "at most 77" }]);
    expect(blocksOf(await ask("hi"))).toMatchObject([{ kind: "text", text: "no limit" }]);
    expect((await ask("busy")).at(-1)).toMatchObject({
      failure: { code: "unavailable", message: expect.stringContaining("too often") },
    });
  });

  test("asks the conversation's model, where its owner gave it tokens, and hears why not elsewhere", async () => {
    const refused = await call("generate", { ask: "why?", most: 9 });
    expect(refused).toMatchObject({ status: "failed", output: expect.stringContaining("may not ask a model") });
    const wanted: WordsWanted[] = [];
    const desk: Desk = {
      ...quiet(),
      generate: async (words) => {
        wanted.push(words);
        return { said: ok({ text: "because", stop: "done", model: "rehearsal/x" }), tokens: 30 };
      },
    };
    const outcome = await lab.call(`${PAID}_generate`, { ask: "why?", most: 9 }, { desk });
    expect(outcome).toMatchObject({ status: "done" });
    expect(JSON.parse(outcome.output)).toEqual(["because", "done", "rehearsal/x", 30, 970]);
    const messages = [{ role: "user", content: [{ kind: "text", text: "why?" }] }];
    expect(wanted).toEqual([{ system: "be short", messages, maxTokens: 9 }]);
  });
});
