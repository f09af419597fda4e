/**
 * The process that holds isolates: `node --jitless --no-node-snapshot hook-host.js ADDON PRELUDE`, started inside the OS
 * sandbox, with descriptor 3 as its only way out. It has no capability of its own and decides nothing; it keeps the time
 * limits of the guests and says when one is out of hand. The broker may kill it at any time, and often does.
 *
 * It never exits by itself while an isolate runs (`process.exit` would hang on it): its end is SIGKILL.
 */

import { readFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type ivm from "isolated-vm";
import { encodeFrame, FRAME_LIMIT_BYTES, frameDecoder } from "./frame.ts";
import { type HostGuest, openGuest } from "./host-guest.ts";
import { type FromHost, readToHost } from "./host-protocol.ts";
import { slotQueue } from "./slot-queue.ts";

const BROKER_FD = 3;
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

/** False when the message is larger than a frame may be. */
function send(message: FromHost): boolean {
  const frame = encodeFrame(message, FRAME_LIMIT_BYTES);
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

function serve(isolates: typeof ivm, prelude: string): void {
  const guests = new Map<number, HostGuest>();
  const slots = slotQueue(RUNNING_SLICES_MAX);

  function obey(message: unknown): void {
    const order = readToHost(message);
    if (!order) die();
    const guest = guests.get(order.guest);
    switch (order.do) {
      case "open":
        if (guest) die();
        guests.set(
          order.guest,
          openGuest(isolates, prelude, order.guest, order.limits, slots, send, () => guests.delete(order.guest)),
        );
        return;
      case "tell":
        guest?.tell(order.text, order.limitMs);
        return;
      case "close":
        guest?.end("closed");
        return;
    }
  }

  const pipe = new Socket({ fd: BROKER_FD, readable: true, writable: false });
  const decoder = frameDecoder(FRAME_LIMIT_BYTES, obey, die);
  pipe.on("data", (bytes) => decoder.push(bytes));
  pipe.on("end", die);
  pipe.on("error", die);
  send({ did: "ready" });
}

const [addonFile, preludeFile] = process.argv.slice(2);
if (!addonFile || !preludeFile) throw new Error("usage: hook-host.js ADDON PRELUDE");
process.on("unhandledRejection", die);
serve(loadAddon(addonFile), readFileSync(preludeFile, "utf8"));
