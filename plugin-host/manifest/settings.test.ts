import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { parseManifest } from "./manifest.ts";
import { settingsFor } from "./settings.ts";

function pluginWith(more: JsonObject) {
  const whole = { manifestVersion: 1, name: "weather", version: "1.0.0", protocolMajors: [1], ...more };
  const parsed = parseManifest(JSON.stringify({ launch: { command: ["node"] }, ...whole }), "f");
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return parsed.value;
}

const plugin = pluginWith({
  configSchema: {
    type: "object",
    properties: {
      city: { type: "string", minLength: 1 },
      days: { type: "integer" },
      deep: { type: "object", properties: { a: { type: "number" }, "b/c": { type: "number" } }, required: ["a"] },
      list: { type: "array", items: { type: "string" } },
    },
    required: ["city"],
    additionalProperties: false,
  },
  config: { days: 3, deep: { a: 1, "b/c": 2 }, list: ["x", "y"] },
});

test("what a person gave comes over what the manifest says, table by table, lists whole", () => {
  expect(settingsFor(plugin, { city: "Ulm", deep: { a: 7 }, list: [] }, "config.toml")).toEqual({
    ok: true,
    value: { city: "Ulm", days: 3, deep: { a: 7, "b/c": 2 }, list: [] },
  });
});

test.each<[JsonObject | undefined, string, string]>([
  [undefined, "config.toml: plugins.weather.city is missing", "write city under [plugins.weather], then: claw plugin"],
  [{ city: 7 }, "config.toml: plugins.weather.city does not fit: ", "mend it, then: claw plugin reload weather"],
  [{ city: "" }, "config.toml: plugins.weather.city does not fit: ", "mend it"],
  [
    { city: "Ulm", dais: 3 },
    'config.toml: plugin "weather" has no setting plugins.weather.dais',
    'did you mean "days"?',
  ],
  [{ city: "Ulm", deep: { "b/c": "x" } }, "config.toml: plugins.weather.deep.b/c does not fit", "mend it"],
  [{ city: "Ulm", list: ["a", 1] }, "config.toml: plugins.weather.list.1 does not fit", "mend it"],
])("%j is refused by file and key", (given, message, hint) => {
  expect(settingsFor(plugin, given, "config.toml")).toMatchObject({
    ok: false,
    failure: { code: "invalid", message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
  });
});

test("a plugin without a schema takes no settings, and has those of its manifest", () => {
  const closed = pluginWith({ config: { a: 1 } });
  expect(settingsFor(closed, undefined, "config.toml")).toEqual({ ok: true, value: { a: 1 } });
  expect(settingsFor(closed, {}, "config.toml")).toEqual({ ok: true, value: { a: 1 } });
  expect(settingsFor(closed, { a: 2 }, "config.toml")).toMatchObject({
    failure: { message: 'config.toml: plugin "weather" takes no settings', hint: "remove [plugins.weather]" },
  });
});

test("a schema that hangs, or that does not work, is its author's fault and holds up nobody", () => {
  const slow = pluginWith({ configSchema: { type: "object", properties: { a: { pattern: "^(a+)+$" } } } });
  const broken = pluginWith({ configSchema: { type: "object", properties: { a: { pattern: "(" } } } });
  for (const bad of [slow, broken]) {
    expect(settingsFor(bad, { a: `${"a".repeat(40)}!` }, "config.toml")).toMatchObject({
      failure: { message: expect.stringContaining("cannot be checked, because its configSchema does not work") },
    });
  }
});

test("a key that objects are born with is a setting like any other", () => {
  const open = pluginWith({ configSchema: { type: "object" } });
  const given = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject;
  const settings = settingsFor(open, given, "config.toml");
  expect(settings.ok && JSON.stringify(settings.value)).toBe('{"__proto__":{"a":1},"constructor":2}');
});
