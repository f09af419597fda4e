import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { bareLauncher, launcher, survivorsOf } from "../fixtures/plugin-lab.ts";
import { parseManifest } from "../manifest/manifest.ts";
import { probeLegacy } from "./legacy-probe.ts";

const dir = mkdtempSync(join(tmpdir(), "legacy-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A shell script that answers the first line of its input with `answer`, and every other one with nothing. */
function script(name: string, answer: string, before = ""): string {
  const file = join(dir, name);
  writeFileSync(
    file,
    `#!/bin/sh\n${before}\nread -r line\nprintf '%s\\n' '${answer}'\nwhile read -r line; do :; done\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

const said = (result: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, result });
const probe = (file: string) => probeLegacy(file, { launcher, trusted: true });

test("a shell script says what it is, and its gaps are filled", async () => {
  const probed = await probe(script("minimal", said({ name: "minimal" })));
  expect(probed).toEqual({
    ok: true,
    value: {
      manifestJson: {
        manifestVersion: 1,
        name: "minimal",
        version: "0.0.0",
        description: "",
        protocolMajors: [1],
        launch: { command: ["./program"], protocol: "PROTOCOL_JSON_RPC", startTimeoutMs: 5000 },
        hooks: [],
        tools: [],
        limits: { concurrentCalls: 1 },
      },
    },
  });
});

test("hooks, tools and priority become those of a manifest that holds", async () => {
  const parameters = [
    { name: "path", description: "Where", required: true },
    { name: "count", type: "number" },
    { name: "odd", type: "blob" },
  ];
  const tools = [{ name: "act", parameters }];
  const answer = said({ name: "whole", version: "2.1", priority: 100, hooks: ["pre_tool_execute", "foo"], tools });
  const probed = await probe(script("whole", answer));
  expect(probed).toMatchObject({
    value: {
      manifestJson: {
        version: "2.1.0",
        hooks: [
          { at: "pre_tool_execute", priority: 100, timeoutMs: 5000, onError: "allow" },
          { at: "foo", priority: 100 },
        ],
        tools: [
          {
            name: "act",
            description: "The tool act of the plugin whole.",
            timeoutMs: 5000,
            inputSchema: {
              type: "object",
              properties: { path: { type: "string", description: "Where" }, count: { type: "number" }, odd: {} },
              required: ["path"],
            },
          },
        ],
      },
    },
  });
  const json = probed.ok ? JSON.stringify(probed.value.manifestJson) : "";
  expect(parseManifest(json, "plugin.json")).toMatchObject({
    ok: true,
    value: { protocol: "json-rpc", name: "whole" },
  });
});

test.each([
  ["my_plug", /names the plugin "my_plug"/],
  ["9x", /names the plugin "9x"/],
  ["x".repeat(65), /at most 63 letters/],
  ["a/b", /names the plugin "a\/b"/],
])("the name %s is refused, and the process is gone", async (name, message) => {
  const file = script(`name-${name.replace("/", "-").slice(0, 20)}`, said({ name }));
  expect(await probe(file)).toMatchObject({ ok: false, failure: { code: "invalid", message } });
  expect(await survivorsOf(file)).toEqual([]);
});

test.each([
  ["no-name", said({ version: "1.0.0" }), /names no plugin/],
  ["no-object", said([1]), /is no object/],
  ["refuses", JSON.stringify({ id: 1, error: { message: "go away" } }), /it refused: go away/],
])("an answer is refused: %s", async (name, answer, message) => {
  expect(await probe(script(name, answer))).toMatchObject({ ok: false, failure: { code: "invalid", message } });
});

test("one that ends says how, with its last words", async () => {
  const file = script("ends", "", "echo 'no licence' >&2; exit 3");
  expect(await probe(file)).toMatchObject({
    failure: {
      code: "unavailable",
      message: `${file} is no legacy plugin: it ended with code 3 before it answered "initialize"`,
      hint: expect.stringContaining("no licence"),
    },
  });
});

test("one that answers what is no JSON is given up after five seconds, and gone", { timeout: 20_000 }, async () => {
  const file = script("broken", "{broken");
  expect(await probe(file)).toMatchObject({ failure: { code: "timed_out" } });
  expect(await survivorsOf(file)).toEqual([]);
});

test("it sees nothing of this machine but itself, and has no network", async () => {
  if (launcher.level === "none") return console.warn(`skipped: ${launcher.detail}`);
  writeFileSync(join(dir, "secret"), "secret");
  const look = `[ -e ${join(dir, "secret")} ] && seen=files; [ -n "$(ls -A /root /home 2>/dev/null)" ] && seen=home; [ "$(ls /sys/class/net 2>/dev/null)" ] && seen=net`;
  const file = script("curious", "", `${look}; printf '{"id":1,"result":{"name":"saw-%s"}}\\n' "\${seen:-nothing}"`);
  expect(await probe(file)).toMatchObject({ value: { manifestJson: { name: "saw-nothing" } } });
});

test("without a sandbox it does not run unless it is trusted", async () => {
  const file = script("alone", said({ name: "alone" }));
  const denied = await probeLegacy(file, { launcher: bareLauncher, trusted: false });
  expect(denied).toMatchObject({ failure: { code: "denied", hint: expect.stringContaining("--trust") } });
  expect(await probeLegacy(file, { launcher: bareLauncher, trusted: true })).toMatchObject({ ok: true });
});

test("what cannot be started is told", async () => {
  const file = script("plain", said({ name: "plain" }));
  chmodSync(file, 0o644);
  expect(await probe(file)).toMatchObject({ failure: { code: "unavailable" } });
});
