import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Credentials } from "../../plugin-host/remote/certificate.ts";
import { seeded } from "../kit/seeded.ts";
import { closed, DIGEST, dialAs, isServed, openRemoteHouse, type RemoteHouse } from "./remote-house.ts";

// Frames of HTTP/2 that no library would send, from an agent whose certificate counts.

const NAME = "weather";
const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
};
const END_HEADERS = 4;
/** What a client says first: "PRI * HTTP/2.0 …". */
const PREFACE_BYTES = 24;

let house: RemoteHouse;
let credentials: Credentials;
beforeEach(async () => {
  house = await openRemoteHouse();
  credentials = await house.enrol(NAME);
});
afterEach(() => house.close());

function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  length = payload.byteLength,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HPACK: the indexed header ":status: 200". */
const STATUS_200 = Buffer.from([0x88]);
const SETTINGS = frame(TYPES.settings, 0, 0);
const SETTINGS_ACK = frame(TYPES.settings, 1, 0);
const OFFER = Buffer.from(`${JSON.stringify({ manifest: { name: NAME }, filesSha256: DIGEST })}\n`);
/** The daemon's first stream is 1: an answer to it, and what the agent brings. */
const HONEST = Buffer.concat([
  SETTINGS,
  frame(TYPES.headers, END_HEADERS, 1, STATUS_200),
  frame(TYPES.data, 0, 1, OFFER),
]);

async function say(...frames: readonly Buffer[]): Promise<TLSSocket> {
  const socket = await dialAs(house.port, credentials);
  socket.on("error", () => {});
  await asked(socket);
  socket.write(Buffer.concat(frames));
  return socket;
}

/** Resolves when the daemon has opened its first stream: before that there is nothing to answer. */
function asked(socket: TLSSocket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let heard = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    heard = Buffer.concat([heard, chunk]).subarray(0, 4_096);
    for (let at = PREFACE_BYTES; at + 9 <= heard.byteLength; at += 9 + heard.readUIntBE(at, 3)) {
      if (heard[at + 3] === TYPES.headers) resolve();
    }
  });
  socket.once("close", () => resolve());
  return promise;
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

test.each([
  ["data on a stream that nobody opened", frame(TYPES.data, 0, 99, Buffer.from("x"))],
  ["data on the connection itself", frame(TYPES.data, 0, 0, Buffer.from("x"))],
  ["headers of a stream of its own making", frame(TYPES.headers, END_HEADERS, 2, STATUS_200)],
  // It is refused only once both agreed on the settings.
  ["a push", Buffer.concat([SETTINGS_ACK, frame(TYPES.push, END_HEADERS, 1, Buffer.concat([u32(2), STATUS_200]))])],
  [
    "a line past every window",
    Buffer.concat(Array.from({ length: 80 }, () => frame(TYPES.data, 0, 1, Buffer.alloc(16_384, " ")))),
  ],
  [
    "a window over the top",
    Buffer.concat([frame(TYPES.window, 0, 0, u32(0x7fffffff)), frame(TYPES.window, 0, 0, u32(0x7fffffff))]),
  ],
  ["a window of nothing", frame(TYPES.window, 0, 0, u32(0))],
  ["a frame larger than any may be", frame(TYPES.data, 0, 1, Buffer.alloc(0), 0xffffff)],
  ["continuations of nothing", frame(TYPES.continuation, END_HEADERS, 1, STATUS_200)],
  [
    "headers without an end",
    Buffer.concat([
      frame(TYPES.headers, 0, 1, STATUS_200),
      ...Array.from({ length: 200 }, () => frame(TYPES.continuation, 0, 1, Buffer.alloc(1_000, 0x88))),
    ]),
  ],
  ["headers that unpack to nonsense", frame(TYPES.headers, END_HEADERS, 1, Buffer.alloc(500, 0xff))],
  ["settings that cannot be", frame(TYPES.settings, 0, 0, Buffer.from([0, 4, 0xff, 0xff, 0xff, 0xff]))],
  [
    "settings by the thousand",
    Buffer.concat(
      Array.from({ length: 5_000 }, () => frame(TYPES.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0xff, 0xff]))),
    ),
  ],
  [
    "a goodbye with a megabyte of reasons",
    frame(TYPES.goaway, 0, 0, Buffer.concat([u32(0), u32(0), Buffer.alloc(15_000, "x")])),
  ],
])("%s: the connection is cut, and the next agent is served", async (_what, wrong) => {
  const socket = await say(HONEST, wrong);
  await closed(socket);
  await expect.poll(() => house.remote.isConnected(NAME)).toBe(false);
  expect(await isServed(house, NAME, credentials)).toBe(true);
});

test("what it brings, said twice and otherwise, counts as it was said first", async () => {
  const other = Buffer.from(
    `${JSON.stringify({ manifest: { name: NAME, version: "2" }, filesSha256: "f".repeat(64) })}\n`,
  );
  const socket = await say(HONEST, frame(TYPES.data, 0, 1, other));
  await expect.poll(() => house.offers.length).toBe(1);
  await new Promise((done) => socket.write(frame(TYPES.data, 0, 1, other), done));
  expect(house.offers).toHaveLength(1);
  socket.destroy();
});

test("frames with bytes changed by chance never take more than their own connection", async () => {
  const random = seeded(20);
  const memoryBefore = process.memoryUsage().rss;
  for (let round = 0; round < 150; round += 1) {
    // A patient attacker: the limit of handshakes is tried elsewhere.
    house.skip(1_000);
    const bytes = Buffer.from(HONEST);
    for (let change = 0; change <= round % 7; change += 1) {
      bytes[Math.floor(random() * bytes.byteLength)] = Math.floor(random() * 256);
    }
    const socket = await say(
      bytes,
      frame(
        Math.floor(random() * 12),
        Math.floor(random() * 256),
        Math.floor(random() * 5),
        Buffer.alloc(Math.floor(random() * 64), round),
      ),
    );
    await new Promise((done) => setImmediate(done));
    socket.destroy();
    await expect.poll(() => house.remote.isConnected(NAME)).toBe(false);
  }
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(200 * 1024 * 1024);
  expect(await isServed(house, NAME, credentials)).toBe(true);
}, 120_000);
