import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Desk, quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import type { Prompt } from "../../core/domain/provider.ts";
import { blocksOf, collect, READ_NOTES, userSays } from "../../tests/contracts/provider.ts";
import { buildRust, RUST_TIMEOUT_MS, rustMissing, testRust } from "../../tests/kit/rust-build.ts";
import { closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";
import { settingsFor } from "../manifest/settings.ts";

const FIXTURES = join(import.meta.dirname, "../../tests/contract/fixtures/rust");

const live = () => new AbortController().signal;
const quiet = () => quietDesk(async () => ok(undefined));

describe.skipIf(rustMissing !== undefined)("the library for Rust", () => {
  let lab: Lab;
  let depth = 1;
  beforeAll(async () => {
    lab = await openLab({ settings: async (plugin) => settingsFor(plugin, { depth }, "config.toml") });
    const named = (...names: string[]) => names.map((name) => ({ name, description: "For tests." }));
    const tool = (name: string) => ({ name, description: "For tests.", inputSchema: { type: "object" } });
    const manifest = manifestOf("user", {
      launch: { command: ["./library-user"] },
      protocolMajors: [1, 2],
      tools: [...["keep", "panic", "coded"].map(tool), { ...tool("stubborn"), timeoutMs: 300 }],
      modelProviders: [{ name: "parrot", defaultModel: "grey" }],
      embedders: [{ id: "lengths", dimensions: 2 }],
      memorySources: named("fish", "dry"),
      slashCommands: named("shout"),
      configSchema: { type: "object", properties: { depth: { type: "integer" } } },
    });
    const program = await buildRust(FIXTURES, "library-user");
    const folder = lab.author(manifest, { "library-user": program });
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  }, RUST_TIMEOUT_MS);
  afterAll(async () => {
    expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
  });

  test("its host keeps values and artifacts for it", async () => {
    const { output, ...outcome } = await lab.call("plugin_user_keep");
    expect(outcome).toMatchObject({ status: "done" });
    const [kept = "", artifact] = output.split("\n");
    expect(JSON.parse(kept)).toEqual({ seen: { times: 3 }, keys: ["seen"], gone: true, same: true });
    expect(artifact).toMatch(/^\[artifact \S+, text\/plain, /);
  });

  test("a panic is the failure of its call and of nothing else", async () => {
    const words = { status: "failed", output: expect.stringContaining("the tool panicked: out of fish") };
    expect(await lab.call("plugin_user_panic")).toMatchObject(words);
    expect(await lab.call("plugin_user_panic")).toMatchObject(words);
    expect(lab.host.admin.log("user")).not.toMatchObject({
      value: expect.arrayContaining([expect.stringMatching(/died/)]),
    });
  });

  test("a failure has a code and says what to do next", async () => {
    expect(await lab.call("plugin_user_coded")).toMatchObject({
      status: "failed",
      output: "no page 7",
      failure: { code: "not_found", message: expect.stringContaining("no page 7"), hint: "ask for another" },
    });
  });

  test("a tool that does not listen when its time is up holds up nothing", async () => {
    expect(await lab.call("plugin_user_stubborn")).toMatchObject({ status: "failed" });
    expect(await lab.call("plugin_user_coded")).toMatchObject({ status: "failed" });
  });

  test("its model answers, fails and panics, each in its own words", async () => {
    const [provider] = lab.host.models();
    if (provider === undefined) throw new Error("no provider is offered");
    const ask = (text: string) => {
      const prompt: Prompt = { ...READ_NOTES, model: "", messages: [userSays(text)] };
      return collect(provider, prompt);
    };
    const news = await ask("hi");
    expect(blocksOf(news)).toMatchObject([
      { kind: "thinking", text: "hm" },
      { kind: "text", text: "Hello, world" },
    ]);
    expect(news.at(-1)).toMatchObject({ kind: "end", stop: "done" });
    expect((await ask("fail")).at(-1)).toMatchObject({
      failure: { code: "unavailable", message: expect.stringContaining("busy now") },
    });
    expect((await ask("panic")).at(-1)).toMatchObject({
      failure: { message: expect.stringContaining("the model panicked: no words") },
    });
  });

  test("its embedder makes vectors, and knows what for", async () => {
    const embedder = lab.host.embedders()[0]?.embedder;
    expect(await embedder?.embed(["a", "abc"], "document", live())).toEqual(
      ok([Float32Array.of(1, 0), Float32Array.of(3, 0)]),
    );
    expect(await embedder?.embed(["ab"], "query", live())).toEqual(ok([Float32Array.of(2, 1)]));
  });

  test("its sources give documents, or say why not", async () => {
    const read = async (name: string) => {
      const source = lab.host.sources().find((one) => one.name === name);
      const documents: unknown[] = [];
      for await (const document of source?.documents(live()) ?? []) documents.push(document);
      return documents;
    };
    expect(await read("plugin:user/fish")).toEqual([
      ok({ id: "1", title: "Trout", text: "a trout" }),
      ok({ id: "2", title: "", text: "{}" }),
    ]);
    expect(await read("plugin:user/dry")).toMatchObject([
      { ok: false, failure: { message: expect.stringContaining("the lake is dry"), cause: { kind: "refused" } } },
    ]);
  });

  test("its command says something, asks the person, fails and panics", async () => {
    const run = (args: string, desk: Desk = quiet()) =>
      lab.host.commands()[0]?.run({ args, sessionId: "s1", workspace: "/work", desk }, live());
    expect(await run("it is late")).toEqual(ok({ do: "say", text: "IT IS LATE" }));
    const desk: Desk = { ...quiet(), confirm: async () => ({ said: "yes", scope: "once" }) };
    expect(await run("ask", desk)).toEqual(ok({ do: "show", text: "yes: true, answered: true" }));
    for (const [args, words] of [
      ["fail", "no such fish"],
      ["panic", "the command panicked: no words"],
    ] as const) {
      expect(await run(args)).toMatchObject({
        ok: false,
        failure: { message: expect.stringContaining(words), cause: { kind: "refused" } },
      });
    }
  });

  test("settings that it refuses leave it as it was", async () => {
    depth = 0;
    expect(await lab.host.admin.reload("user")).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining("depth must not be 0") },
    });
    depth = 2;
    expect(await lab.host.admin.reload("user")).toMatchObject({ ok: true });
    expect(await lab.call("plugin_user_coded")).toMatchObject({ status: "failed" });
  });

  test(
    "passes its own tests",
    async () => {
      expect(await testRust(import.meta.dirname, "--locked")).toContain("0 failed");
    },
    RUST_TIMEOUT_MS,
  );
});
