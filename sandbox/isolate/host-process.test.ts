import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_SIGNAL, openSandboxRoom, type SandboxRoom, toolBefore } from "./fixtures/sandbox-room.ts";

let room: SandboxRoom;
beforeAll(async () => {
  room = await openSandboxRoom({ wanted: "auto", limits: { startMs: 2000 } });
  await room.write("hooks/guard.ts", "/** @hook at=tool.before timeout=500ms */ export default () => ({ pass: true })");
  await rename(room.files.hostFile, join(room.folder, "good-host.js"));
});
afterAll(() => room.close());

const PRELUDE = `const fs = require("node:fs");
const raw = (bytes) => fs.writeSync(3, bytes);
const frame = (text) => { const body = Buffer.from(text), head = Buffer.alloc(4); head.writeUInt32LE(body.length); raw(Buffer.concat([head, body])); };
const stay = () => setInterval(() => {}, 1000);
// A guest speaks only once there is one: what comes before that is nobody's.
const hear = () => { for (;;) try { return fs.readSync(3, Buffer.alloc(1)); } catch (error) { if (error.code !== "EAGAIN") throw error; } };
`;

const HOSTS: readonly (readonly [string, string, RegExp])[] = [
  ["exits at once", "process.exitCode = 3", /lost its process \(exit code 3\)/],
  ["says nothing", "stay()", /was not up within 2000 ms/],
  ["announces a frame of 4 GiB", "raw(Buffer.from([255, 255, 255, 255])); stay()", /sent a frame of 4294967295 bytes/],
  ["sends a frame that is no JSON", "frame('{'); stay()", /not JSON/],
  [
    "sends a frame of no known kind",
    `frame('{"did":"ready"}'); frame('{"did":"root","guest":1}'); stay()`,
    /broke the protocol/,
  ],
  [
    "sends fields of the wrong type",
    `frame('{"did":"ready"}'); frame('{"did":"said","guest":1,"text":{"toString":1}}'); stay()`,
    /broke the protocol/,
  ],
  [
    "sends nonsense as the guest",
    `frame('{"did":"ready"}'); hear(); frame('{"did":"said","guest":1,"text":"[[["}'); stay()`,
    /makes no sense/,
  ],
  [
    "answers what was not asked, and then never",
    `frame('{"did":"ready"}'); hear(); frame(JSON.stringify({ did: "said", guest: 1, text: '{"k":"answer","id":99,"value":{"pass":true}}' })); stay()`,
    /did not finish within 500 ms/,
  ],
  [
    "floods the daemon",
    `frame('{"did":"ready"}'); hear(); for (;;) frame(JSON.stringify({ did: "said", guest: 1, text: '{"k":"log","to":"stdout","text":"x"}' }))`,
    /more than 2000 messages|did not/,
  ],
  ["does not read", `frame('{"did":"ready"}'); stay()`, /did not finish within 500 ms/],
];

test.each(HOSTS)("a host that %s makes the hook fail closed", async (_what, code, because) => {
  // Without a package.json beside it, Node takes this for CommonJS.
  await room.write("hook-host.js", PRELUDE + code);
  const { answer } = await room.hooks.hooks.run(toolBefore({ tool: "x", args: {} }), NO_SIGNAL);
  expect(answer).toMatchObject({ do: "block", because: expect.stringMatching(because) });
});

test("after all of them a good host answers again", async () => {
  await rm(room.files.hostFile);
  await rename(join(room.folder, "good-host.js"), room.files.hostFile);
  // The last bad host, which was merely silent, is found out by the close that it does not answer.
  await expect
    .poll(async () => (await room.hooks.hooks.run(toolBefore({ tool: "x", args: {} }), NO_SIGNAL)).answer, {
      timeout: 10_000,
    })
    .toEqual({ do: "pass" });
});
