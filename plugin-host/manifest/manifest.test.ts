import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { parseManifest } from "./manifest.ts";
import { readManifest } from "./read-manifest.ts";

const folder = mkdtempSync(join(tmpdir(), "manifest-"));
afterAll(() => rmSync(folder, { recursive: true }));

const whole: JsonObject = {
  manifestVersion: 1,
  name: "weather",
  version: "1.2.0",
  description: "Tells the weather.",
  protocolMajors: [1],
  launch: { command: ["node", "main.js"], env: { CITY: "Ulm" }, startTimeoutMs: 5000 },
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
  limits: { memoryMib: 256, processes: 32, concurrentCalls: 2 },
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
        },
      ],
      wants: [{ permission: "net=api.example.com:443", reason: "to ask" }],
      limits: { memoryMib: 256, processes: 32, concurrentCalls: 2 },
    },
  });
});

test("zeros are defaults, never without limit", () => {
  const { limits: _, ...rest } = whole;
  const sparse = {
    ...rest,
    launch: { command: ["node"] },
    tools: [{ name: "now", description: "x", inputSchema: { type: "object" } }],
  };
  expect(parseManifest(JSON.stringify(sparse), "f")).toMatchObject({
    value: {
      startTimeoutMs: 10_000,
      tools: [{ timeoutMs: 60_000, rerun: "unsafe" }],
      limits: { memoryMib: 512, processes: 256, concurrentCalls: 4 },
    },
  });
});

const tool = { name: "now", description: "x", inputSchema: { type: "object" } };
test.each<[string, JsonObject, string, string?]>([
  ["an unknown key", { permisions: [] }, 'unknown key "permisions"', 'did you mean "permissions"?'],
  ["an unknown key below", { limits: { memoryMb: 1 } }, 'unknown key "limits.memoryMb"', 'did you mean "memoryMib"?'],
  ["an unknown key in a list", { tools: [tool, { nome: "x" }] }, 'unknown key "tools[1].nome"', 'did you mean "name"?'],
  ["a key like nothing we know", { zzzzzzzzzzzz: 1 }, 'unknown key "zzzzzzzzzzzz"', "remove it"],
  ["another form", { manifestVersion: 2 }, "manifestVersion must be 1"],
  [
    "a number out of range",
    { limits: { memoryMib: -1 } },
    "cannot decode field Limits.memory_mib from JSON: expected number (uint32): -1 out of range",
  ],
  ["a name with an underscore", { name: "my_plugin" }, 'name "my_plugin" must be a letter'],
  ["a name that is a path", { name: "../evil" }, 'name "../evil" must be a letter'],
  ["no semantic version", { version: "1.2" }, 'version "1.2" must be a semantic version'],
  ["an unknown major", { protocolMajors: [7] }, "protocolMajors [7] must hold one of 1"],
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

test("a manifest is a small regular file, or it is not read", () => {
  const file = join(folder, "plugin.json");
  expect(readManifest(folder)).toMatchObject({ ok: false, failure: { code: "not_found" } });
  writeFileSync(file, JSON.stringify(whole));
  expect(readManifest(folder)).toMatchObject({ ok: true, value: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
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
