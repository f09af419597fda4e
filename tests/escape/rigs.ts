import { readFileSync, writeFileSync } from "node:fs";

/** The prelude, with its one way out handed to the guest as the global `post`. Gives the file. */
export function hostilePrelude(preludeFile: string, file: string): string {
  writeFileSync(
    file,
    `${readFileSync(preludeFile, "utf8")}\nObject.defineProperty(globalThis, "post", { value: $0 });\n`,
  );
  return file;
}

/**
 * A process in the place of the one that holds isolates: what it would be if a stranger had broken out of V8. A program
 * runs natively in it, and its default export is called for each event with `(event, host)`: `host.say(guest, text)` and
 * `host.frame(kind, guest, number, text)` write frames as they are asked for, `host.raw(bytes)` anything, `host.call`
 * asks the broker in the name of `host.guest`.
 */
export function hostileHost(file: string): string {
  writeFileSync(file, HOSTILE_HOST);
  return file;
}

const HOSTILE_HOST = `
import { createRequire } from "node:module";
import { writeSync } from "node:fs";
import { Socket } from "node:net";
const require = createRequire(import.meta.url);
function raw(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try { at += writeSync(3, bytes, at); } catch (error) { if (error.code !== "EAGAIN") throw error; }
  }
}
function frame(kind, guest, number, text) {
  const body = Buffer.from(text);
  const bytes = Buffer.alloc(13 + body.length);
  bytes.writeUInt32LE(9 + body.length, 0);
  bytes.writeUInt8(kind, 4);
  bytes.writeUInt32LE(guest, 5);
  bytes.writeUInt32LE(number, 9);
  body.copy(bytes, 13);
  raw(bytes);
}
const say = (guest, text) => frame(1, guest, 0, typeof text === "string" ? text : JSON.stringify(text));
const handlers = new Map();
const loads = new Map();
const waiting = new Map();
let lastCall = 1_000_000;
function callFor(guest) {
  return (name, args) => new Promise((resolve) => {
    lastCall += 1;
    waiting.set(lastCall, resolve);
    say(guest, { k: "call", id: lastCall, name, args });
  });
}
async function load(guest, order) {
  try {
    await (0, eval)(order.source)((exported) => handlers.set(guest, exported.default));
    say(guest, { k: "loaded" });
  } catch (error) {
    say(guest, { k: "unloadable", error: { name: error.name, message: error.message, stack: "" } });
  }
}
async function answer(guest, order) {
  try {
    const value = await handlers.get(guest)(order.event, { raw, frame, say, guest, require, call: callFor(guest) });
    if (value !== undefined) say(guest, { k: "answer", id: order.id, value });
  } catch (error) {
    say(guest, { k: "threw", id: order.id, error: { name: String(error.name), message: String(error.message), stack: "" } });
  }
}
let rest = Buffer.alloc(0);
new Socket({ fd: 3, readable: true, writable: false }).on("data", (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
    const end = 4 + rest.readUInt32LE(0);
    const order = { kind: rest.readUInt8(4), guest: rest.readUInt32LE(5), text: rest.toString("utf8", 13, end) };
    rest = rest.subarray(end);
    if (order.kind === 3) frame(4, order.guest, 5, "");
    // A new guest waits until it is told that it has its turn; the first event comes along with the load.
    if (order.kind === 0) frame(7, order.guest, 0, "");
    if (![1, 2, 4].includes(order.kind)) continue;
    const text = JSON.parse(order.text);
    if (text.k === "load") loads.set(order.guest, load(order.guest, text));
    if (text.k === "event") void loads.get(order.guest).then(() => answer(order.guest, text));
    if (text.k === "reply") waiting.get(text.id)?.(text.answer);
  }
}).on("end", () => process.kill(process.pid, "SIGKILL"));
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
frame(0, 0, 0, "");
`;
