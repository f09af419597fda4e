import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, expect, test } from "vitest";
import { ManifestSchema } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import { parseManifest, THIS_HOST } from "./manifest.ts";
import { describeOffers } from "./offers.ts";
import { readManifest } from "./read-manifest.ts";

const folder = mkdtempSync(join(tmpdir(), "manifest-"));
afterAll(() => rmSync(folder, { recursive: true }));

const whole: JsonObject = {
  manifestVersion: 1,
  name: "weather",
  version: "1.2.0",
  description: "Tells the weather.",
  protocolMajors: [1],
  launch: {
    command: ["node", "main.js"],
    env: { CITY: "Ulm" },
    startTimeoutMs: 5000,
    protocol: "PROTOCOL_CLAWD",
    idleStopMs: 9000,
    singleton: true,
  },
  tools: [
    {
      name: "now",
      description: "The weather now.",
      inputSchema: { type: "object", anyKey: { isFree: true } },
      rerunSafe: true,
      timeoutMs: 100,
    },
  ],
  permissions: [{ permission: "net=api.example.com:443", reason: "to ask" }],
  limits: { memoryMib: 256, processes: 32, concurrentCalls: 2, cpuPercent: 50, diskMib: 16 },
  author: "Ada",
  dependencies: ["maps"],
  hooks: [{ at: "PreToolUse", priority: 7, timeoutMs: 250, onError: "ask", tools: ["shell"] }, { at: "custom.rain" }],
  modelProviders: [{ name: "sky", defaultModel: "sky-1" }],
  embedders: [{ id: "sky/embed-1", dimensions: 16 }],
  memorySources: [{ name: "almanac", description: "Old weather." }],
  slashCommands: [{ name: "forecast", description: "Tells tomorrow.", arguments: [{ name: "city", required: true }] }],
  configSchema: { type: "object", properties: { city: { type: "string" } } },
  config: { city: "Ulm" },
};

test("a whole manifest is understood", () => {
  expect(parseManifest(JSON.stringify(whole), "f")).toEqual({
    ok: true,
    value: {
      name: "weather",
      version: "1.2.0",
      description: "Tells the weather.",
      command: ["node", "main.js"],
      env: { CITY: "Ulm" },
      startTimeoutMs: 5000,
      tools: [
        {
          name: "now",
          fullName: "plugin_weather_now",
          description: "The weather now.",
          input: { type: "object", anyKey: { isFree: true } },
          rerun: "safe",
          timeoutMs: 100,
          edition: "",
          unsettled: "",
        },
      ],
      wants: [{ permission: "net=api.example.com:443", reason: "to ask" }],
      limits: { memoryMib: 256, processes: 32, concurrentCalls: 2, cpuPercent: 50, diskMib: 16 },
      author: "Ada",
      dependencies: ["maps"],
      protocol: "clawd",
      protocolMajors: [1],
      idleStopMs: 9000,
      singleton: true,
      dynamic: false,
      toolStyle: {
        category: "plugin",
        prefix: "plugin_weather_",
        longerPrefixes: [],
        note: "",
        workspace: undefined,
      },
      hooks: [
        { index: 0, at: "tool.before", priority: 7, timeoutMs: 250, onError: "ask", tools: ["shell"] },
        { index: 1, at: "custom.rain", priority: 500, timeoutMs: 5000, onError: "allow", tools: [] },
      ],
      modelProviders: [{ name: "sky", defaultModel: "sky-1" }],
      embedders: [{ id: "sky/embed-1", dimensions: 16 }],
      memorySources: [{ name: "almanac", description: "Old weather." }],
      slashCommands: [
        {
          name: "forecast",
          description: "Tells tomorrow.",
          takes: [{ name: "city", description: "", required: true }],
        },
      ],
      configSchema: { type: "object", properties: { city: { type: "string" } } },
      config: { city: "Ulm" },
      warnings: ["hooks[1].at: nothing fires custom.rain yet, so nothing is heard there"],
    },
  });
});

test("what it offers beside tools is said in a line each", () => {
  const parsed = parseManifest(JSON.stringify(whole), "f");
  expect(parsed.ok && describeOffers(parsed.value)).toEqual([
    ...["hook tool.before", "hook custom.rain", "model sky", "embedder sky/embed-1", "memory almanac", "/forecast"],
  ]);
});

test("zeros are defaults, never without limit", () => {
  const sparse = {
    ...{ manifestVersion: 1, name: "weather", version: "1.0.0", protocolMajors: [2] },
    launch: { command: ["node"] },
    tools: [{ name: "now", description: "x", inputSchema: { type: "object" } }],
    hooks: [{ at: "tool.before" }, { at: "tool.after" }],
  };
  expect(parseManifest(JSON.stringify(sparse), "f")).toMatchObject({
    value: {
      startTimeoutMs: 10_000,
      tools: [{ timeoutMs: 60_000, rerun: "unsafe" }],
      limits: { memoryMib: 512, processes: 256, concurrentCalls: 4, cpuPercent: 0, diskMib: 1024 },
      ...{ protocol: "clawd", idleStopMs: 600_000, singleton: false, author: "", dependencies: [] },
      hooks: [
        { at: "tool.before", priority: 500, timeoutMs: 5000, onError: "deny", tools: [] },
        { at: "tool.after", priority: 500, timeoutMs: 5000, onError: "allow", tools: [] },
      ],
      configSchema: undefined,
      config: {},
    },
  });
});

test("a hook at a point that nobody knows is left out with a warning, and the plugin loads", () => {
  const parsed = parseManifest(JSON.stringify({ ...whole, hooks: [{ at: "foo" }, { at: "tool.befor" }] }), "f");
  expect(parsed).toMatchObject({
    value: {
      hooks: [],
      warnings: [
        'hooks[0].at: there is no hook point "foo", so nothing is heard there',
        'hooks[1].at: there is no hook point "tool.befor", so nothing is heard there; did you mean "tool.before"?',
      ],
    },
  });
});

const commands = {
  command: ["./any"],
  platforms: { linux: { command: ["./linux"] }, "linux-arm64": { command: ["./arm"] } },
};
test.each([
  ["linux-x64", commands, "./linux"],
  ["linux-arm64", commands, "./arm"],
  ["darwin-arm64", commands, "./any"],
  ["linux-x64", { platforms: { linux: { command: ["./linux"] } } }, "./linux"],
])("on %s the command of the closest platform is taken", (platform, launch, program) => {
  const parsed = parseManifest(JSON.stringify({ ...whole, launch }), "f", { ...THIS_HOST, platform });
  expect(parsed).toMatchObject({ value: { command: [program] } });
});

test("a plugin without a command for this machine says for which it has one", () => {
  const launch = { platforms: { darwin: { command: ["./mac"] } } };
  expect(
    parseManifest(JSON.stringify({ ...whole, launch }), "f", { ...THIS_HOST, platform: "linux-x64" }),
  ).toMatchObject({
    failure: { message: "f: launch.platforms has no command for linux-x64, only for darwin" },
  });
});

test("majors are those of the host that asks, and one that speaks JSON-RPC needs none", () => {
  const later = JSON.stringify({ ...whole, protocolMajors: [2, 3] });
  expect(parseManifest(later, "f", { ...THIS_HOST, majors: [1] })).toMatchObject({
    failure: { message: "f: protocolMajors [2,3] must hold one of 1" },
  });
  expect(parseManifest(later, "f").ok).toBe(true);
  const launch = { command: ["./old"], protocol: "PROTOCOL_JSON_RPC" };
  expect(parseManifest(JSON.stringify({ ...whole, protocolMajors: [], launch }), "f")).toMatchObject({
    value: { protocol: "json-rpc" },
  });
});

test("fields that a later release added go through this one unharmed on the wire", () => {
  const later = new BinaryWriter().tag(1, WireType.Varint).uint32(1).tag(900, WireType.LengthDelimited).string("later");
  const bytes = later.finish();
  expect(toBinary(ManifestSchema, fromBinary(ManifestSchema, bytes))).toEqual(bytes);
});

const tool = { name: "now", description: "x", inputSchema: { type: "object" } };
test.each<[string, JsonObject, string, string?]>([
  ["an unknown key", { permisions: [] }, 'unknown key "permisions"', 'did you mean "permissions"?'],
  ["an unknown key below", { limits: { memoryMb: 1 } }, 'unknown key "limits.memoryMb"', 'did you mean "memoryMib"?'],
  ["an unknown key in a list", { tools: [tool, { nome: "x" }] }, 'unknown key "tools[1].nome"', 'did you mean "name"?'],
  ["a key like nothing we know", { zzzzzzzzzzzz: 1 }, 'unknown key "zzzzzzzzzzzz"'],
  ["another form", { manifestVersion: 2 }, "manifestVersion must be 1"],
  [
    "a number out of range",
    { limits: { memoryMib: -1 } },
    "limits.memoryMib must be a whole number from 0 to 4294967295, not -1",
  ],
  ["a name with an underscore", { name: "my_plugin" }, 'name "my_plugin" must be a letter'],
  ["a name that is a path", { name: "../evil" }, 'name "../evil" must be a letter'],
  ["no semantic version", { version: "1.2" }, 'version "1.2" must be a semantic version'],
  ["an unknown major", { protocolMajors: [7] }, "protocolMajors [7] must hold one of 1, 2"],
  ["no command", { launch: {} }, "launch.command must name a program"],
  ["a command outside", { launch: { command: ["../../bin/evil"] } }, "leads out of the plugin's folder"],
  [
    "a variable of the loader",
    { launch: { command: ["node"], env: { LD_PRELOAD: "x" } } },
    "launch.env.LD_PRELOAD is not a variable",
  ],
  ["a tool with a dash", { tools: [{ ...tool, name: "a-b" }] }, 'tools[0].name "a-b" must be a letter'],
  ["a tool twice", { tools: [tool, tool] }, 'tools[1].name "now" stands there twice'],
  ["a name too long for models", { tools: [{ ...tool, name: "n".repeat(60) }] }, "which is longer than 64 characters"],
  ["no description", { tools: [{ ...tool, description: "" }] }, "tools[0].description is missing"],
  [
    "a schema that is no object",
    { tools: [{ ...tool, inputSchema: { type: "string" } }] },
    'tools[0].inputSchema must be a JSON Schema of type "object"',
  ],
  ["too little memory", { limits: { memoryMib: 1 } }, "limits.memoryMib must be from 128"],
  [
    "an unknown key of a platform",
    { launch: { platforms: { linux: { comand: [] } } } },
    'unknown key "launch.platforms.linux.comand"',
    'did you mean "command"?',
  ],
  [
    "both spellings of a field",
    { protocol_majors: [1] },
    'protocol_majors stands there twice, also as "protocolMajors"',
    "remove one of the two",
  ],
  ["a text that is a number", { author: 7 }, "author must be a text, not 7", "put it in quotes"],
  ["a list that is an object", { hooks: {} }, "hooks must be a list, not an object"],
  ["an object that is a list", { launch: [] }, "launch must be an object, not a list"],
  ["a null in a list", { tools: [null] }, "tools[0] must not be null"],
  ["a number of the wrong kind", { limits: { processes: 1.5 } }, "limits.processes must be a whole number"],
  ["a flag that is a word", { launch: { singleton: "yes" } }, "launch.singleton must be true or false"],
  [
    "a reason that fills the screen",
    { permissions: [{ permission: "net", reason: "r".repeat(1001) }] },
    "permissions[0].reason is longer than 1000 characters",
    "shorten it",
  ],
  ["half a character", { author: "\ud800" }, "author holds half a character"],
  [
    "an unknown protocol",
    { launch: { command: ["./x"], protocol: "PROTOCOL_JSONRPC" } },
    'launch.protocol is "PROTOCOL_JSONRPC", which nobody knows',
    'did you mean "PROTOCOL_JSON_RPC"?',
  ],
  [
    "an unknown platform",
    { launch: { platforms: { linus: { command: ["./x"] } } } },
    "launch.platforms.linus is no platform",
    'did you mean "linux"?',
  ],
  [
    "a command of another platform that leads outside",
    { launch: { command: ["./x"], platforms: { darwin: { command: ["./../../x"] } } } },
    "launch.platforms.darwin.command",
  ],
  ["a dependency that is no name", { dependencies: ["a_b"] }, 'dependencies[0] "a_b" is no name of a plugin'],
  ["itself as a dependency", { dependencies: ["weather"] }, "dependencies[0] is the plugin itself"],
  ["a dependency twice", { dependencies: ["a", "a"] }, 'dependencies[1] "a" stands there twice'],
  ["the same point by two names", { hooks: [{ at: "tool.before" }, { at: "PreToolUse" }] }, "hooks[1].at listens at"],
  ["tools at a point without", { hooks: [{ at: "turn.ended", tools: ["x"] }] }, "hooks[0].tools means nothing"],
  ["no verdict", { hooks: [{ at: "tool.before", onError: "maybe" }] }, 'hooks[0].onError "maybe" is no verdict'],
  [
    "a hook that may take for ever",
    { hooks: [{ at: "tool.after", timeoutMs: 120_001 }] },
    "hooks[0].timeoutMs must be",
  ],
  ["a provider with a slash", { modelProviders: [{ name: "a/b", defaultModel: "m" }] }, 'modelProviders[0].name "a/b"'],
  ["a provider without a model", { modelProviders: [{ name: "a" }] }, "modelProviders[0].defaultModel must name"],
  ["a vector without numbers", { embedders: [{ id: "e" }] }, "embedders[0].dimensions must be from 1 to 16384"],
  [
    "an embedder twice",
    {
      embedders: [
        { id: "e", dimensions: 1 },
        { id: "e", dimensions: 2 },
      ],
    },
    'embedders[1] "e" stands there twice',
  ],
  [
    "an argument with a space",
    { slashCommands: [{ name: "go", arguments: [{ name: "a b" }] }] },
    'slashCommands[0].arguments has an argument "a b"',
  ],
  [
    "an argument twice",
    { slashCommands: [{ name: "go", arguments: [{ name: "a" }, { name: "a" }] }] },
    'slashCommands[0].arguments has two arguments "a"',
  ],
  ["a command with its slash", { slashCommands: [{ name: "/go" }] }, 'slashCommands[0].name "/go" must be a letter'],
  ["a source twice", { memorySources: [{ name: "a" }, { name: "a" }] }, 'memorySources[1] "a" stands there twice'],
  ["settings that are no object", { configSchema: { type: "string" } }, "configSchema must be a JSON Schema"],
])("%s is refused by file and field", (_, change, message, hint) => {
  const parsed = parseManifest(JSON.stringify({ ...whole, ...change }), "/p/plugin.json");
  expect(parsed).toMatchObject({
    ok: false,
    failure: { code: "invalid", message: expect.stringContaining(`/p/plugin.json: `) },
  });
  expect(parsed).toMatchObject({
    failure: { message: expect.stringContaining(message), ...(hint === undefined ? {} : { hint }) },
  });
});

test("the same key twice is refused, and so is what is no JSON", () => {
  const twice = JSON.stringify(whole).replace('"name"', '"name":"other","name"');
  expect(parseManifest(twice, "f")).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("duplicate object key") },
  });
  for (const text of ["", "{", "[]", "null", "7"])
    expect(parseManifest(text, "f")).toMatchObject({ ok: false, failure: { code: "invalid" } });
});

test("a name has at most 64 characters, as long as its tools have room", () => {
  const named = (name: string, tools: JsonObject[]) => parseManifest(JSON.stringify({ ...whole, name, tools }), "f");
  expect(named("n".repeat(64), []).ok).toBe(true);
  expect(named("n".repeat(65), [])).toMatchObject({
    failure: { message: expect.stringContaining("at most 63 letters") },
  });
  expect(named("n".repeat(64), [tool])).toMatchObject({
    failure: {
      message: expect.stringContaining("longer than 64 characters"),
      hint: expect.stringContaining("shorten"),
    },
  });
});

/** The same numbers at every run: what fails once can be looked at again. */
function seededNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("no text whatever makes the parser throw, and each refusal names the file", () => {
  const pick = seededNumbers(4);
  const text = JSON.stringify(whole);
  const scraps = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "-1",
    "1e999",
    "\\u0000",
    "\ud800",
    '"__proto__":{}',
    "true",
  ];
  let accepted = 0;
  for (let round = 0; round < 3000; round += 1) {
    let mutant = text;
    for (let change = pick(4); change >= 0; change -= 1) {
      const from = pick(mutant.length);
      const scrap =
        pick(2) === 0 ? (scraps[pick(scraps.length)] ?? "") : text.slice(pick(text.length)).slice(0, pick(40));
      mutant = mutant.slice(0, from) + scrap + mutant.slice(from + pick(20));
    }
    const parsed = parseManifest(mutant, "/p/plugin.json");
    if (parsed.ok) accepted += 1;
    else expect(parsed.failure).toMatchObject({ code: "invalid", message: expect.stringContaining("/p/plugin.json") });
  }
  expect(accepted).toBeLessThan(3000);
});

test("a manifest is a small regular file, or it is not read", () => {
  const file = join(folder, "plugin.json");
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { code: "not_found" } });
  writeFileSync(file, JSON.stringify(whole));
  expect(readManifest(folder)).toMatchObject({
    failure: { message: `Plugin entry point not found: ${join(folder, "main.js")}` },
  });
  writeFileSync(join(folder, "main.js"), "");
  expect(readManifest(folder)).toMatchObject({
    ok: true,
    value: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), file, json: whole },
  });
  writeFileSync(file, JSON.stringify({ ...whole, description: "x".repeat(256 * 1024) }));
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { message: `${file} is larger than 256 KiB` } });
  writeFileSync(file, Buffer.from([0xff, 0xfe]));
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { message: `${file} is not UTF-8 text` } });
  rmSync(file);
  symlinkSync("/etc/hostname", file);
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { message: `${file} is a symbolic link` } });
  rmSync(file);
  execFileSync("mkfifo", [file]);
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { message: `${file} is not a regular file` } });
});
