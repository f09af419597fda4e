import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { loadConfig } from "./config-file.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-config-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const put = (text: string) => writeFile(join(home, "config.toml"), text);

test("no file means the defaults, without a word", async () => {
  const { config, problems } = await loadConfig(home);
  expect(problems).toEqual([]);
  expect(config).toMatchObject({
    ...{ model: "", policy: [], sandbox: "auto", gateway: undefined, tape: "" },
    limits: { attendedSteps: 250, unattendedSteps: 10, approvalMs: 300_000, outputChars: 100_000 },
    shell: { network: "none", read: [], write: [] },
    hooks: { killsAllowed: 3, killWindowMs: 600_000, commandsWithoutSandbox: false },
    memory: {
      ...{
        enabled: true,
        autoReindex: true,
        conversations: true,
        rrf: "weighted",
        halfLifeDays: 0,
        storeLimitBytes: 0,
      },
      ...{ embedder: "", embeddingModel: "", embeddingApiUrl: "", embeddingApiKey: "", vectorWeight: undefined },
      ...{ recall: true, recallTokens: 1000, recallNotes: 3, recallDocuments: 3 },
    },
  });
});

test("every key of docs/config.md is understood", async () => {
  const docs = await readFile(join(import.meta.dirname, "../../docs/config.md"), "utf8");
  const example = /```toml\n(.*?)```/s.exec(docs)?.[1] ?? "";
  const parsed = parseConfig(example, "docs/config.md");
  expect(parsed).toMatchObject({ ok: true, value: { problems: [] } });
  expect(parsed.ok && parsed.value.config).toMatchObject({
    ...{ model: "anthropic", sandbox: "auto", gateway: { port: 8787 }, tape: "/path/to/answers.tape" },
    policy: [
      { pattern: "write:notes/*", verdict: "allow" },
      { pattern: "read:*.pem", verdict: "ask" },
      { pattern: "shell:*sudo*", verdict: "deny" },
    ],
  });
});

test.each([
  ['[limits]\nattended_steps = "ten"\n', "line 2: limits.attended_steps must be a whole number"],
  ["[limits]\n\nattended_steps = 1.5\n", "line 3: limits.attended_steps must be a whole number"],
  ["limits.output_chars = 0\n", "line 1: limits.output_chars must be at least 1"],
  ['[policy]\nallow = "read"\n', "line 2: policy.allow must be a list of strings"],
  ['[policy]\ndeny = ["rm -rf"]\n', "line 2: policy.deny holds a wrong pattern"],
  ['[sandbox]\nlevel = "strong"\n', 'line 2: sandbox.level must be "auto" or "none"'],
  ['[scripts]\nruntime = "node"\n', 'line 2: scripts.runtime must be "isolate" or "deno"'],
  ['[scripts]\ndeno = "bin/deno"\n', "line 2: scripts.deno must be a program's name or absolute path"],
  ["[gateway]\nport = 70000\n", "line 2: gateway.port must be a port"],
  ['[shell]\nnetwork = "yes"\n', "line 2: shell.network must be true or false"],
  ['[shell]\nnet = ["https://example.com"]\n', "line 2: shell.net must hold"],
  ['[shell]\nread = ["data"]\n', 'line 2: shell.read must hold absolute paths, not "data"'],
  ["[hooks]\nkills_allowed = 0\n", "line 2: hooks.kills_allowed must be at least 1"],
  ["[plugins]\ncrashes_allowed = 0\n", "line 2: plugins.crashes_allowed must be at least 1"],
  ['[hooks]\ncommands_without_sandbox = "yes"\n', "line 2: hooks.commands_without_sandbox must be true or false"],
  ['[record]\ntape = "x.tape"\n', "line 2: record.tape must be an absolute path"],
  ['[memory]\nembedder = "word2vec"\n', 'line 2: memory.embedder must be "builtin", "openai"'],
  ['[memory]\nembedder = "plugin:notes"\n', "line 2: memory.embedder must be"],
  ['[memory]\nembedding_api_url = "localhost"\n', "line 2: memory.embedding_api_url must be an address"],
  ['[memory]\nrrf = "fair"\n', 'line 2: memory.rrf must be "weighted" or "unweighted"'],
  ["[memory]\nvector_weight = -1\n", "line 2: memory.vector_weight must be a number from 0 on"],
  ["[memory]\nvector_weight = 101.5\n", "line 2: memory.vector_weight must be at most 100"],
  ["[memory]\nhalf_life_days = inf\n", "line 2: memory.half_life_days must be a number from 0 on"],
  ["[memory]\nrecall_notes = 1.5\n", "line 2: memory.recall_notes must be a whole number"],
  ["[memory]\nrecall_tokens = 200000\n", "line 2: memory.recall_tokens must be at most 100000"],
  ["model = \n", "line 1:"],
  ["[a]\n[a]\n", "line 2:"],
])("%j is refused with line and key", (text, said) => {
  const parsed = parseConfig(text, "config.toml");
  expect(parsed).toMatchObject({ ok: false, failure: { code: "invalid", message: expect.stringContaining(said) } });
});

test.each([
  ["network = true", { allow: [{ kind: "net" }], deny: [] }],
  ['net = ["Example.COM:443", "10.0.0.0/8"]', { allow: [{ host: "example.com", port: 443 }, { host: "10.0.0.0/8" }] }],
  ['network = true\nnet = ["10.0.0.1"]', { allow: [{ kind: "net" }, { kind: "net", host: "10.0.0.1" }] }],
  ["network = true\nhost_network = true", "host"],
  ["net = []", "none"],
])("[shell] %j is the network of commands", (text, network) => {
  const parsed = parseConfig(`[shell]\n${text}\n`, "config.toml");
  expect(parsed).toMatchObject({ ok: true, value: { config: { shell: { network } } } });
});

test("a file that cannot be read is a problem, not the defaults in silence", async () => {
  await mkdir(join(home, "config.toml"));
  expect((await loadConfig(home)).problems).toMatchObject([
    { message: expect.stringContaining("cannot be read: EISDIR") },
  ]);
});

test("an unknown key has no effect, and is named with the nearest one that exists", () => {
  const parsed = parseConfig("[limits]\natended_steps = 5\nattended_steps = 7\n", "config.toml");
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      config: { limits: { attendedSteps: 7 } },
      problems: [{ message: expect.stringContaining("line 2"), hint: "did you mean limits.attended_steps?" }],
    },
  });
});

test("a broken file leaves the last good one in force, also after several starts", async () => {
  await put('model = "rehearsal"\n');
  expect((await loadConfig(home)).config.model).toBe("rehearsal");
  await put("model = 7\n");
  for (let start = 0; start < 2; start += 1) {
    const { config, problems } = await loadConfig(home);
    expect(config.model).toBe("rehearsal");
    expect(problems).toMatchObject([{ message: expect.stringContaining("the last good one is in force") }]);
  }
  await rm(join(home, "config.last-good.toml"));
  expect((await loadConfig(home)).problems).toMatchObject([
    { message: expect.stringContaining("the defaults are in force") },
  ]);
});

test("[plugins.NAME] is kept as it stands there, for the plugin's own schema to judge", () => {
  const text =
    '[plugins.weather]\ncity = "Ulm"\nsince = 2020-01-02\n[plugins.weather.deep]\nlist = [1, { a = true }]\n[plugins]\nodd = 1\n';
  const parsed = parseConfig(text, "config.toml");
  expect(parsed).toMatchObject({
    ok: true,
    value: { problems: [{ message: "config.toml line 7: nobody knows the key plugins.odd, so it has no effect" }] },
  });
  expect(parsed.ok && [...parsed.value.config.plugins]).toEqual([
    ["weather", { city: "Ulm", since: "2020-01-02", deep: { list: [1, { a: true }] } }],
  ]);
});

test("after how many crashes a plugin rests can be set beside its settings", () => {
  const text = '[plugins]\ncrashes_allowed = 1000\ncrash_window_seconds = 10\n[plugins.weather]\ncity = "Ulm"\n';
  const breaker = { crashesAllowed: 1000, windowMs: 10_000 };
  expect(parseConfig(text, "config.toml")).toMatchObject({ value: { config: { breaker }, problems: [] } });
});

test("a setting that JSON has no form for is refused with line and key", () => {
  expect(parseConfig("[plugins.weather]\nheat = nan\n", "config.toml")).toMatchObject({
    failure: { message: "config.toml line 2: plugins.weather.heat must be a number, not NaN" },
  });
});
