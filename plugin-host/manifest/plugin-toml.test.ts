import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseManifest, parseTomlManifest } from "./manifest.ts";
import { readManifest } from "./read-manifest.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "plugin-toml-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FLAT = `
name = "weather"
version = "1.2.0"
api_version = 1
author = "Ada"
description = "Tells the weather."
plugin_type = "native"
entry_point = "main.py"
dependencies = ["maps"]

[config]
city = "Ulm"
since = 2020-01-02

[[tools]]
name = "now"
description = "The weather now."

[[hooks]]
name = "BeforeToolCall"
`;

const NESTED = `
[plugin]
name = "weather"
version = "1.2.0"
api_version = 1
author = "Ada"
description = "Tells the weather."
entry_point = "main.py"
dependencies = ["maps"]

[plugin.config]
city = "Ulm"
since = "2020-01-02"

[[tools]]
name = "now"
description = "The weather now."
input_schema = { type = "object" }

[[hooks]]
name = "BeforeToolCall"
`;

test("the flat layout and the one with [plugin] are the same plugin", () => {
  const flat = parseTomlManifest(FLAT, "f");
  expect(flat).toMatchObject({
    ok: true,
    value: {
      manifest: {
        ...{ name: "weather", version: "1.2.0", author: "Ada", description: "Tells the weather." },
        command: ["python3", "main.py"],
        dependencies: ["maps"],
        config: { city: "Ulm", since: "2020-01-02" },
        configSchema: { type: "object" },
        tools: [{ fullName: "plugin_weather_now", input: { type: "object" } }],
        hooks: [{ at: "tool.before", onError: "deny" }],
        warnings: [],
      },
    },
  });
  expect(flat).toEqual(parseTomlManifest(NESTED, "f"));
});

test.each([
  ["main.ts", ["node", "main.ts"]],
  ["dist/main.mjs", ["node", "dist/main.mjs"]],
  ["main.py", ["python3", "main.py"]],
  ["run", ["./run"]],
  ["bin/run.sh", ["bin/run.sh"]],
])("the entry point %s is started as %j", (entryPoint, command) => {
  expect(parseTomlManifest(FLAT.replace("main.py", entryPoint), "f")).toMatchObject({
    value: { manifest: { command } },
  });
});

test("every field of plugin.json has its place in snake_case too", () => {
  const text = `${FLAT}
[launch]
start_timeout_ms = 7000
protocol = "PROTOCOL_JSON_RPC"
[limits]
memory_mib = 256
[[permissions]]
permission = "read=./data"
reason = "to look"
[[model_providers]]
name = "sky"
default_model = "sky-1"
`;
  expect(parseTomlManifest(text, "f")).toMatchObject({
    value: {
      manifest: {
        ...{ startTimeoutMs: 7000, protocol: "json-rpc", command: ["python3", "main.py"] },
        limits: { memoryMib: 256 },
        wants: [{ permission: "read=./data" }],
        modelProviders: [{ name: "sky" }],
      },
      json: { launch: { command: ["python3", "main.py"] } },
    },
  });
});

test.each([["999"], ['"2"'], ["1.5"]])("the API version %s is refused in words of its own", (version) => {
  expect(parseTomlManifest(FLAT.replace("api_version = 1", `api_version = ${version}`), "f")).toMatchObject({
    failure: {
      message: `Plugin 'weather' API version ${version.replaceAll('"', "")} doesn't match runtime version 1`,
      hint: "write api_version = 1 in f",
    },
  });
});

test.each<[string, string, string, string, string?]>([
  ["no API version", "api_version = 1", "", "f: api_version is missing"],
  ["no TOML", "name =", "name ", "f line 2: "],
  ["a key twice", 'author = "Ada"', 'author = "Ada"\nauthor = "Bob"', "f line 6: "],
  ["an unknown key", "author", "autor", 'f: unknown key "autor"', 'did you mean "author"?'],
  ["a name that is none", '"weather"', '"my_plug"', 'f: name "my_plug" must be a letter'],
  ["another type", '"native"', '"wasm"', 'f: plugin_type "wasm" is none that clawd runs'],
  ["an entry point outside", "main.py", "../main.py", 'f: entry_point "../main.py" leads out of the plugin'],
  ["an absolute entry point", "main.py", "/bin/sh", 'f: entry_point "/bin/sh" leads out of the plugin'],
  ["an entry point of no kind", '"main.py"', "7", "f: entry_point must name a file"],
  ["a number that JSON has not", "[config]", "[config]\nheat = inf", "f: config.heat must be a number, not Infinity"],
  [
    "a table too deep",
    "[config]",
    `[config]\n${Array(60_000).fill("a").join(".")} = 1`,
    "f: config.a.a.a.a.",
    "make it flatter",
  ],
  ["no entry point", 'entry_point = "main.py"', "", "f: launch.command must name a program"],
  [
    "an unknown key below",
    "[config]",
    "[launch]\nstart_timeout = 7\n[config]",
    'f: unknown key "launch.start_timeout"',
    'did you mean "start_timeout_ms"?',
  ],
  [
    "a value out of range",
    "[config]",
    "[limits]\nmemory_mib = 1\n[config]",
    "f: limits.memory_mib must be from 128 to 65536, not 1",
  ],
  ["tools that are no list", "[[tools]]", "[tools]", "f: tools must be a list, not an object"],
])("%s is refused by file and field", (_, from, to, message, hint) => {
  const parsed = parseTomlManifest(FLAT.replace(from, to), "f");
  expect(parsed).toMatchObject({
    ok: false,
    failure: {
      code: "invalid",
      message: expect.stringContaining(message),
      hint: hint ?? expect.stringMatching(/./),
    },
  });
});

test("a field in [plugin] and beside it is refused", () => {
  expect(parseTomlManifest(`author = "Bob"\n${NESTED}`, "f")).toMatchObject({
    failure: { message: "f: author stands there twice, in [plugin] and beside it" },
  });
});

test("a folder with both files is refused, and so is one whose entry point is missing or a library", () => {
  const file = join(folder, "plugin.toml");
  writeFileSync(file, FLAT.replace("main.py", "lib.so"));
  expect(readManifest(folder)).toMatchObject({
    failure: { message: `Plugin entry point not found: ${join(folder, "lib.so")}` },
  });
  writeFileSync(join(folder, "lib.so"), "");
  expect(readManifest(folder)).toMatchObject({
    failure: { message: `${file}: the entry point ./lib.so is a library` },
  });
  writeFileSync(file, FLAT);
  writeFileSync(join(folder, "main.py"), "");
  expect(readManifest(folder)).toMatchObject({ ok: true, value: { file, json: { name: "weather" } } });
  writeFileSync(join(folder, "plugin.json"), "{}");
  expect(readManifest(folder)).toMatchObject({
    failure: { message: `${folder} holds both plugin.json and plugin.toml` },
  });
});

test("the ProtoJSON of a plugin.toml, written as plugin.json, is the same plugin", () => {
  writeFileSync(join(folder, "main.py"), "");
  writeFileSync(join(folder, "plugin.toml"), FLAT);
  const fromToml = readManifest(folder);
  if (!fromToml.ok) throw new Error(fromToml.failure.message);
  rmSync(join(folder, "plugin.toml"));
  writeFileSync(join(folder, "plugin.json"), JSON.stringify(fromToml.value.json));
  expect(readManifest(folder)).toMatchObject({ ok: true, value: { manifest: fromToml.value.manifest } });
});

test("the examples of docs/plugins.md are what they say", () => {
  const docs = readFileSync(join(import.meta.dirname, "../../docs/plugins.md"), "utf8");
  const section = docs.slice(docs.indexOf("\n## The manifest\n"));
  const json = /```json\n(.*?)```/s.exec(section)?.[1] ?? "";
  expect(parseManifest(json, "docs")).toMatchObject({ ok: true, value: { name: "weather", warnings: [] } });
  const [flat = "", nested = ""] = [...section.matchAll(/```toml\n(.*?)```/gs)].map((match) => match[1] ?? "");
  expect(parseTomlManifest(flat, "docs")).toMatchObject({ ok: true, value: { manifest: { name: "weather" } } });
  expect(parseTomlManifest(nested, "docs")).toEqual(parseTomlManifest(flat, "docs"));
});

test("no text whatever makes the parser throw", () => {
  // The same numbers at every run: what fails once can be looked at again.
  let state = 7;
  const pick = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const scraps = [
    '"',
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    ".",
    "[[",
    "inf",
    "1e999",
    "2020-13-01",
    "'''",
    "__proto__",
    "[a]\n",
  ];
  for (let round = 0; round < 3000; round += 1) {
    let mutant = pick(2) === 0 ? FLAT : NESTED;
    for (let change = pick(4); change >= 0; change -= 1) {
      const from = pick(mutant.length);
      const scrap =
        pick(2) === 0 ? (scraps[pick(scraps.length)] ?? "") : FLAT.slice(pick(FLAT.length)).slice(0, pick(40));
      mutant = mutant.slice(0, from) + scrap + mutant.slice(from + pick(20));
    }
    const parsed = parseTomlManifest(mutant, "f");
    if (!parsed.ok) expect(parsed.failure).toMatchObject({ code: "invalid", hint: expect.stringMatching(/./) });
  }
});
