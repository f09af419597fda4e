/**
 * The process that holds isolates: `node --jitless --no-node-snapshot hook-host.js ADDON PRELUDE MEMORY_MIB KEPT
 * [LIBRARY=FILE …]`, started inside the OS sandbox, with descriptor 3 as its only way out. It keeps KEPT isolates of
 * MEMORY_MIB booted. It has no capability of its own and decides nothing; it keeps the time limits of the guests and
 * says when one is out of hand. The broker may kill it at any time, and often does.
 *
 * It never exits by itself while an isolate runs (`process.exit` would hang on it): its end is SIGKILL.
 */

import { readFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type ivm from "isolated-vm";
import { type BootedIsolate, isolateBoot } from "./booted-isolate.ts";
import { FRAME_LIMIT_BYTES, frameDecoder, frameEncoder } from "./frame.ts";
import { hostAnswers } from "./host-answers.ts";
import { type HostGuest, seatGuest } from "./host-guest.ts";
import { type FromHost, type GuestLimits, newsFrame, readOrder } from "./host-protocol.ts";
import { type IsolateShelf, isolateShelf } from "./isolate-shelf.ts";
import { restNews } from "./rest-news.ts";
import { sliceWatch } from "./slice-watch.ts";
import { slotQueue } from "./slot-queue.ts";

const BROKER_FD = 3;
const READ_BYTES = 64 * 1024;
/** How long to sleep between two attempts to write into a full pipe, milliseconds. */
const FULL_PIPE_WAIT_MS = 1;
/** Slices that may run at one moment; more only steal each other's time. */
const RUNNING_SLICES_MAX = 2;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable after SIGKILL");
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes at once and waits when the pipe is full. That is the backpressure: a guest that says something waits in its
 * own thread until this returns, so that a reader's pause stops the writer and nothing piles up.
 */
function writeAll(bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(BROKER_FD, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") die();
      Atomics.wait(sleeper, 0, 0, FULL_PIPE_WAIT_MS);
    }
  }
}

const encode = frameEncoder(FRAME_LIMIT_BYTES);

/** False when the message is larger than a frame may be. */
function send(message: FromHost): boolean {
  const frame = encode(newsFrame(message));
  if (frame) writeAll(frame);
  return frame !== undefined;
}

function loadAddon(file: string): typeof ivm {
  const module: { exports: { ivm?: typeof ivm } } = { exports: {} };
  // By its exact path: looking for the right build needs a listing of folders, which the sandbox does not offer.
  process.dlopen(module, file);
  if (!module.exports.ivm) throw new Error(`${file} is not the isolated-vm addon`);
  return module.exports.ivm;
}

function serve(shelf: IsolateShelf, answers: ReturnType<typeof hostAnswers>): void {
  const guests = new Map<number, HostGuest>();
  const now = () => performance.now();
  const house = { slots: slotQueue(RUNNING_SLICES_MAX), slices: sliceWatch(now), rests: restNews(), now, send };

  function open(id: number, limits: GuestLimits): void {
    let booted: BootedIsolate;
    try {
      booted = shelf.take(limits.memoryMib);
    } catch {
      send({ did: "ended", guest: id, why: "error" });
      return;
    }
    const forget = () => guests.delete(id);
    guests.set(id, seatGuest(booted, id, limits, answers(), house, forget));
  }

  const decoder = frameDecoder(
    FRAME_LIMIT_BYTES,
    (frame) => {
      const order = readOrder(frame);
      if (!order) die();
      const guest = guests.get(order.guest);
      switch (order.do) {
        case "open":
          if (guest) die();
          open(order.guest, order.limits);
          return;
        case "ask":
          guest?.ask(order.text, order.limitMs);
          return;
        case "askLoaded":
          guest?.askLoaded(order.text, order.limitMs);
          return;
        case "answer":
          guest?.answer(order.text);
          return;
        case "tell":
          guest?.tell(order.text, order.limitMs);
          return;
        case "close":
          guest?.end("closed");
          return;
      }
    },
    die,
  );
  // Read into one buffer, past the machinery of streams, which takes its time without a JIT.
  const onread = {
    buffer: Buffer.alloc(READ_BYTES),
    callback(count: number, buffer: Uint8Array) {
      decoder.push(Buffer.copyBytesFrom(buffer, 0, count));
      return true;
    },
  };
  const pipe = new Socket({ fd: BROKER_FD, readable: true, writable: false, onread });
  pipe.on("end", die);
  pipe.on("error", die);
  send({ did: "ready" });
}

/** Reads a library when a guest first needs it: most hosts need few of them. Empty for one that is none. */
function libraryReader(libraries: readonly string[]): (name: string) => string {
  const files = new Map(
    libraries.map((argument) => {
      const at = argument.indexOf("=");
      return [argument.slice(0, at), argument.slice(at + 1)];
    }),
  );
  const read = new Map<string, string>();
  return (name) => {
    const file = files.get(name);
    if (file === undefined) return "";
    let text = read.get(name);
    if (text === undefined) {
      // Runs while a guest waits, which must not see an error of ours.
      try {
        text = readFileSync(file, "utf8");
      } catch {
        text = "";
      }
      read.set(name, text);
    }
    return text;
  };
}

const [addonFile, preludeFile, memoryMib, kept, ...libraries] = process.argv.slice(2);
if (!addonFile || !preludeFile) throw new Error("usage: hook-host.js ADDON PRELUDE MEMORY_MIB KEPT [LIBRARY=FILE …]");
process.on("unhandledRejection", die);
const boot = isolateBoot(loadAddon(addonFile), readFileSync(preludeFile, "utf8"));
serve(isolateShelf(boot, Number(memoryMib), Number(kept)), hostAnswers(libraryReader(libraries)));
