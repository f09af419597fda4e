import type { Capabilities } from "../broker/capabilities.ts";
import {
  type CallAnswer,
  type FromGuest,
  LONG_CALLS,
  PENDING_CALLS_MAX,
  type ToGuest,
} from "../guest/guest-protocol.ts";
import type { HostProcess } from "./host-process.ts";

/** The calls of one guest on their way to its capabilities and back. */
export type CallLane = {
  /** Calls under way. */
  readonly open: number;
  /** False when the guest has more calls open than its prelude would allow. `chars` is what the call's text took. */
  serve(asked: AskedCall, chars: number): boolean;
  /** Drops what has not begun. */
  end(): void;
};

/** Calls of one guest that run at one moment: each may hold a whole file. */
const RUNNING_MAX = 8;
/** Texts of calls that wait, UTF-16 units; beyond, the whole process is not read. */
const WAITING_LIMIT_CHARS = 16 * 1024 * 1024;
/** With so much unread by the process, no further call is begun. */
const UNREAD_BYTES = 8 * 1024 * 1024;

type AskedCall = Extract<FromGuest, { k: "call" }>;
type Waiting = { readonly asked: AskedCall; readonly chars: number };

/** @param reply false when the text is too large for the guest; `stands` where the guest stands still for it */
export function callLane(
  host: HostProcess,
  capabilities: Capabilities,
  reply: (text: ToGuest, stands: boolean) => boolean,
): CallLane {
  const waiting: Waiting[] = [];
  let waitingChars = 0;
  let running = 0;
  /** Calls that wait for others, and take no turn from the rest. */
  let long = 0;
  let aborting = 0;
  let paused = false;
  let ended = false;

  function pauseIfFull(): void {
    const full = waitingChars > WAITING_LIMIT_CHARS;
    if (full === paused) return;
    paused = full;
    host.pause(full);
  }

  function answer({ id, stands }: AskedCall, result: CallAnswer): void {
    if (reply({ k: "reply", id, answer: result }, stands === true)) return;
    const error = { name: "Error", message: "the answer is too large to be handed over" };
    reply({ k: "reply", id, answer: { ok: false, error } }, stands === true);
  }

  async function run(asked: AskedCall): Promise<void> {
    // A process that is paused here cannot read either, and then waiting would be for ever.
    if (!paused && host.unreadBytes > UNREAD_BYTES) await host.drained();
    const result = await capabilities.call(asked.id, asked.name, asked.args);
    running -= 1;
    if (ended) return;
    answer(asked, result);
    next();
  }

  function next(): void {
    while (running < RUNNING_MAX) {
      const call = waiting.shift();
      if (!call) return;
      waitingChars -= call.chars;
      running += 1;
      pauseIfFull();
      void run(call.asked);
    }
  }

  function runLong(asked: AskedCall): void {
    long += 1;
    void capabilities.call(asked.id, asked.name, asked.args).then((result) => {
      long -= 1;
      if (!ended) answer(asked, result);
    });
  }

  return {
    get open() {
      return running + long + aborting + waiting.length;
    },
    serve(asked, chars) {
      if (asked.name === "abort") {
        // It must not wait behind what it is to end, and it ends at once.
        aborting += 1;
        void capabilities.call(asked.id, asked.name, asked.args).then((result) => {
          aborting -= 1;
          if (!ended) answer(asked, result);
        });
        return true;
      }
      if (running + long + waiting.length >= PENDING_CALLS_MAX) return false;
      if (LONG_CALLS.has(asked.name)) {
        runLong(asked);
        return true;
      }
      waiting.push({ asked, chars });
      waitingChars += chars;
      next();
      pauseIfFull();
      return true;
    },
    end() {
      ended = true;
      waiting.length = 0;
      waitingChars = 0;
      pauseIfFull();
    },
  };
}
