import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, READ_NOTES } from "../../tests/contracts/provider.ts";
import { startModelServer } from "../../tests/kit/model-server.ts";
import { NO_USAGE, type Provider } from "../domain/provider.ts";
import { DEFAULT_ANTHROPIC_MODEL } from "./anthropic.ts";
import { type ProviderConfig, providerCatalog } from "./catalog.ts";

const now = () => 0;
const KEY = { anthropic: { apiKey: "sk-test" } };

function resolved(config: ProviderConfig, asked: string) {
  const found = providerCatalog(config, now).resolve(asked);
  return found.ok ? [found.value.provider.name, found.value.model] : found.failure;
}

test.each<[ProviderConfig, string, string, string]>([
  [{}, "", "rehearsal", "plain"],
  [{ anthropic: { apiKey: "" } }, "", "rehearsal", "plain"],
  [KEY, "", "anthropic", DEFAULT_ANTHROPIC_MODEL],
  [{ anthropic: { apiKey: "k", model: "claude-opus-5-5" } }, "", "anthropic", "claude-opus-5-5"],
  [{ ...KEY, default: "rehearsal" }, "", "rehearsal", "plain"],
  [{ ...KEY, default: "anthropic/claude-haiku-5-5" }, "", "anthropic", "claude-haiku-5-5"],
  [{ ...KEY, default: "rehearsal" }, "anthropic", "anthropic", DEFAULT_ANTHROPIC_MODEL],
  [KEY, "anthropic/claude-opus-5-5", "anthropic", "claude-opus-5-5"],
  [KEY, "anthropic/team/model", "anthropic", "team/model"],
  [KEY, "rehearsal", "rehearsal", "plain"],
  [{}, "tape//tmp/a.tape", "tape", "/tmp/a.tape"],
])("with %j, %j is answered by %s with %s", (config, asked, provider, model) => {
  expect(resolved(config, asked)).toEqual([provider, model]);
});

test.each<[ProviderConfig, string, string, RegExp]>([
  [{}, "anthropic", "denied", /ANTHROPIC_API_KEY/],
  [{}, "openai/gpt-9", "not_found", /there are: rehearsal, tape\/FILE/],
  [KEY, "gemini", "not_found", /there are: anthropic\/MODEL/],
  [KEY, "local", "not_found", /there are/],
  [KEY, "claude-opus-5-5", "not_found", /did you mean anthropic\/claude-opus-5-5/],
  [KEY, "tape/a.tape", "invalid", /absolute|tape\/\/home/],
  [KEY, "tape", "invalid", /tape\/\/home/],
  [{ ...KEY, default: "openai" }, "", "not_found", /there are/],
])("with %j, %j is refused as %s with a next move", (config, asked, code, hint) => {
  expect(resolved(config, asked)).toMatchObject({ code, hint: expect.stringMatching(hint) });
});

test("the default name is what answers, or what the config asks for in vain", () => {
  expect(providerCatalog({}, now).defaultName).toBe("rehearsal/plain");
  expect(providerCatalog(KEY, now).defaultName).toBe(`anthropic/${DEFAULT_ANTHROPIC_MODEL}`);
  expect(providerCatalog({ default: "openai/x" }, now).defaultName).toBe("openai/x");
});

test("a provider is made once, so that connections, caches and the place on a tape stay", () => {
  const { resolve } = providerCatalog(KEY, now);
  for (const name of ["anthropic", "rehearsal", "tape//tmp/a"]) {
    const [first, second] = [resolve(name), resolve(name)];
    expect(first.ok && second.ok && first.value.provider === second.value.provider).toBe(true);
  }
});

test("every run can be recorded and then replayed without the server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clawd-catalog-"));
  const recordTo = join(folder, "run.tape");
  const server = await startModelServer([{ blocks: [{ text: "hi there" }] }]);
  const live = providerCatalog({ anthropic: { apiKey: "k", baseUrl: server.url }, recordTo }, now).resolve("");
  if (!live.ok) throw new Error(live.failure.message);
  const said = await collect(live.value.provider, { ...READ_NOTES, model: live.value.model });
  await server.close();
  const tape = await readFile(recordTo, "utf8");
  expect(tape).toContain("hi there");
  const replay = providerCatalog({ recordTo }, now).resolve(`tape/${recordTo}`);
  if (!replay.ok) throw new Error(replay.failure.message);
  expect(await collect(replay.value.provider, { ...READ_NOTES, model: replay.value.model })).toEqual(said);
  expect(await readFile(recordTo, "utf8")).toBe(tape);
  await rm(folder, { recursive: true });
});

const offered = (name: string): Provider => ({
  name,
  defaultModel: "best",
  async *stream({ model }) {
    yield { kind: "delta", block: 0, of: "text", text: `${name}/${model}` };
    yield { kind: "block", block: 0, content: { kind: "text", text: `${name}/${model}` } };
    yield { kind: "end", stop: "done", usage: NO_USAGE };
  },
});

test("a plugin's provider is found by its name as long as it is offered, and is never the default by itself", () => {
  let plugins = [offered("parrot"), offered("crow")];
  const catalog = providerCatalog({}, now, () => plugins);
  const found = (asked: string) => {
    const resolved = catalog.resolve(asked);
    return resolved.ok ? [resolved.value.provider, resolved.value.model] : resolved.failure;
  };
  expect(found("parrot/grey/2")).toEqual([plugins[0], "grey/2"]);
  expect(found("crow")).toEqual([plugins[1], "best"]);
  expect(found("")).toMatchObject([{ name: "rehearsal" }, "plain"]);
  expect(found("owl")).toMatchObject({ code: "not_found", hint: expect.stringContaining("tape/FILE, parrot, crow") });
  plugins = [];
  expect(found("parrot")).toMatchObject({ code: "not_found" });
});

test("a plugin's provider can be the default by config, and is asked for only when somebody asks", () => {
  let asked = 0;
  const plugins = () => {
    asked += 1;
    return [offered("parrot")];
  };
  const catalog = providerCatalog({ default: "parrot/grey" }, now, plugins);
  expect(asked).toBe(0);
  expect(catalog.defaultName).toBe("parrot/grey");
  expect(providerCatalog({}, now, plugins).resolve("").ok).toBe(true);
  expect(asked).toBe(1);
});

test.each(["anthropic", "openai", "gemini", "local", "rehearsal", "tape"])(
  "a plugin that calls itself %s is never asked",
  (name) => {
    const mine = offered(name);
    const found = providerCatalog({}, now, () => [mine]).resolve(`${name}/x`);
    expect(found.ok && found.value.provider === mine).toBe(false);
  },
);

test("what a plugin's provider answers is recorded, too, and its recording is made once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clawd-catalog-"));
  const recordTo = join(folder, "run.tape");
  const plugins = [offered("parrot")];
  const { resolve } = providerCatalog({ recordTo }, now, () => plugins);
  const [first, second] = [resolve("parrot/grey"), resolve("parrot/grey")];
  if (!first.ok || !second.ok) throw new Error("not found");
  expect(first.value.provider).toBe(second.value.provider);
  await collect(first.value.provider, { ...READ_NOTES, model: "grey" });
  expect(await readFile(recordTo, "utf8")).toContain("parrot/grey");
  await rm(folder, { recursive: true });
});
