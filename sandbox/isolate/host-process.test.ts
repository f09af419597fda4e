import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type EngineRoom, openEngineRoom, QUIET_CONTEXT } from "../fixtures/engine-room.ts";
import type { Engine, Fired } from "./engine.ts";

let room: EngineRoom;
let engine: Engine;
let goodHost: string;
beforeAll(async () => {
  room = await openEngineRoom();
  goodHost = readFileSync(room.files.hostFile, "utf8");
});
beforeEach(() => {
  engine = room.open({ startMs: 4000, queueMs: 700, activeMs: 300 });
});
afterEach(() => engine.close());
afterAll(() => room.close());

const KINDS = "const [READY, SAID, IDLE, FAULT, ENDED, STUCK, WAITS, TURN] = [0, 1, 2, 3, 4, 5, 6, 7];";
const PRELUDE = `import fs from "node:fs";
${KINDS}
const raw = (bytes) => { for (let at = 0; at < bytes.length; ) try { at += fs.writeSync(3, bytes, at); } catch (error) { if (error.code !== "EAGAIN") throw error; } };
const frame = (kind, guest = 0, number = 0, text = "") => {
  const body = Buffer.from(text), head = Buffer.alloc(13);
  head.writeUInt32LE(9 + body.length); head.writeUInt8(kind, 4); head.writeUInt32LE(guest, 5); head.writeUInt32LE(number, 9);
  raw(Buffer.concat([head, body]));
};
const said = (message) => frame(SAID, 1, 0, typeof message === "string" ? message : JSON.stringify(message));
const stay = () => setInterval(() => {}, 1000);
// A guest speaks only once there is one: what comes before that is nobody's.
const hear = () => { for (;;) try { return fs.readSync(3, Buffer.alloc(65536)); } catch (error) { if (error.code !== "EAGAIN") throw error; } };
const begin = () => { frame(READY); hear(); frame(TURN, 1); };
`;

function fire(): Promise<Fired> {
  return engine.fire({
    ...{ group: "g", guest: "g", plan: room.plan("export default () => 1"), event: null, timeoutMs: 500 },
    ...{ context: QUIET_CONTEXT, signal: new AbortController().signal },
  });
}

const HOSTS: readonly (readonly [string, string, RegExp])[] = [
  ["exits at once", "process.exitCode = 3", /lost its process \(exit code 3\)/],
  ["says nothing", "stay()", /was not up within 4000 ms/],
  [
    "announces a frame of 4 GiB",
    "raw(Buffer.alloc(4, 255)); stay()",
    /lost its process|sent a frame of 4294967295 bytes/,
  ],
  [
    "announces one byte more than a frame may have",
    "begin(); raw(Buffer.from([1, 0, 128, 0])); stay()",
    /8388609 bytes/,
  ],
  ["sends a frame without its fields", "begin(); raw(Buffer.from([1, 0, 0, 0, 1])); stay()", /frame of 1 bytes/],
  [
    "sends bytes that are no text",
    "begin(); frame(SAID, 1); raw(Buffer.from([10, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 255])); stay()",
    /not UTF-8|no sense/,
  ],
  ["sends a frame of no known kind", "begin(); frame(200, 1); stay()", /broke the protocol/],
  ["names an end that there is not", "begin(); frame(ENDED, 1, 77); stay()", /broke the protocol/],
  ["sends nonsense as the guest", `begin(); said("[[["); stay()`, /makes no sense/],
  [
    "sends fields of the wrong type",
    "begin(); said({ k: 'answer', id: { valueOf: 1 }, value: 1 }); stay()",
    /no sense/,
  ],
  [
    "sends a call that there is not",
    "begin(); said({ k: 'call', id: 1, name: 'toString', args: {} }); stay()",
    /no sense/,
  ],
  [
    "sends an answer of two megabytes",
    "begin(); said({ k: 'answer', id: 1, value: 'x'.repeat(2e6) }); stay()",
    /no sense/,
  ],
  [
    "sends a million values",
    'begin(); said(\'{"k":"call","id":1,"name":"stat","args":[\' + \'[],\'.repeat(1e6) + \'1]}\'); stay()',
    /no sense/,
  ],
  [
    "nests a hundred thousand deep",
    "begin(); said('{\"k\":\"answer\",\"id\":1,\"value\":' + '['.repeat(1e5) + ']'.repeat(1e5) + '}'); stay()",
    /no sense/,
  ],
  [
    "answers what was not asked, and then never",
    "begin(); said({ k: 'answer', id: 99, value: 1 }); stay()",
    /did not finish within 500 ms/,
  ],
  [
    "answers before it was asked",
    "begin(); said({ k: 'answer', id: 1, value: 1 }); stay()",
    /did not finish within 500 ms/,
  ],
  [
    "makes more calls than a guest may",
    "begin(); for (let id = 1; id < 3000; id++) said({ k: 'call', id, name: 'readTextFile', args: { path: 'x' } }); stay()",
    /more calls open at once|more than 2000/,
  ],
  ["floods the daemon", `begin(); for (;;) said({ k: "log", to: "stdout", text: "x" })`, /more than 2000 messages/],
  [
    "floods it in the name of others",
    "begin(); const end = Date.now() + 900; while (Date.now() < end) frame(SAID, 7, 0, 'x'); stay()",
    /did not finish within 500 ms/,
  ],
  ["never comes to the guest", "frame(READY); stay()", /waited 700 ms for a turn/],
  ["does not read any more", "begin(); stay()", /did not finish within 500 ms/],
  ["says for ever that it waits", "begin(); frame(WAITS, 1); stay()", /waited 700 ms for a turn/],
  [
    "says that all is heard when nothing is",
    "begin(); frame(IDLE, 1, 2); stay()",
    /waits for something that never comes/,
  ],
  ["gets stuck at once", "begin(); frame(STUCK, 1); stay()", /did not stop when its time or memory was up/],
];

test.each(HOSTS)("a host that %s makes the hook fail, and the daemon lives", async (_what, code, because) => {
  await writeFile(room.files.hostFile, PRELUDE + code);
  const fired = await fire();
  expect(fired.ok ? "it answered" : fired.failure.message).toMatch(because);
});

test("after all of them a good host answers again", async () => {
  await writeFile(room.files.hostFile, goodHost);
  expect(await fire()).toEqual({ ok: true, value: 1 });
});
