import type { ScriptFeed } from "../../core/domain/admin.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { GuestInput } from "../broker/guest-input.ts";
import { HEARD_SIGNALS, type HeardSignal } from "../guest/guest-protocol.ts";

/** Most bytes that wait to be read by a script that asked for fewer. */
const WAITING_LIMIT_BYTES = 1024 * 1024;

/** What one run reads and hears. */
export type RunInput = GuestInput & {
  /** What it asks for now comes no more. */
  close(): void;
};

/** How a run asks for input, and gets its signals. */
export type InputEars = {
  /** It waits for one piece of input. */
  wanted(runId: string, limitBytes: number): void;
  /** All signals that it hears from now on. */
  listening(runId: string, names: readonly HeardSignal[]): void;
  signal(name: HeardSignal): void;
};

export type ScriptInputs = {
  open(ears: InputEars): RunInput;
  feed(feed: ScriptFeed): Result<void>;
};

type Run = { take(data: Uint8Array, end: boolean): boolean; hear(name: string): boolean };

/** What all running scripts read and hear, by the ids of their runs: it comes on a way of its own. */
export function scriptInputs(newId: () => string): ScriptInputs {
  const runs = new Map<string, Run>();
  return {
    open(ears) {
      const runId = newId();
      const { run, input } = openRun(runId, ears);
      runs.set(runId, run);
      return {
        ...input,
        close() {
          runs.delete(runId);
          input.close();
        },
      };
    },
    feed({ runId, data, end, signal }) {
      const run = runs.get(runId);
      if (!run) return fail("not_found", `no script of the run ${runId} is there any more`);
      if (signal !== "")
        return run.hear(signal) ? ok(undefined) : fail("conflict", `the script does not hear ${signal}`);
      return run.take(data, end) ? ok(undefined) : fail("conflict", "the script does not wait for input");
    },
  };
}

function openRun(runId: string, ears: InputEars): { readonly run: Run; readonly input: RunInput } {
  const heard = new Set<HeardSignal>();
  let waiting: Uint8Array = new Uint8Array(0);
  let over = false;
  let isAsking = false;
  let arrived: PromiseWithResolvers<void> = Promise.withResolvers();

  return {
    run: {
      take(data, end) {
        if (!isAsking || data.length > WAITING_LIMIT_BYTES) return false;
        isAsking = false;
        waiting = data;
        over = end;
        arrived.resolve();
        return true;
      },
      hear(name) {
        const known = HEARD_SIGNALS.find((each) => each === name);
        if (known === undefined || !heard.has(known)) return false;
        ears.signal(known);
        return true;
      },
    },
    input: {
      async read(bytes, signal) {
        while (waiting.length === 0 && !over) {
          if (signal.aborted) return null;
          // A piece that was asked for by a read that was given up serves the next one.
          if (!isAsking) {
            isAsking = true;
            arrived = Promise.withResolvers();
            ears.wanted(runId, bytes);
          }
          const given = Promise.withResolvers<void>();
          const giveUp = () => given.resolve();
          signal.addEventListener("abort", giveUp, { once: true });
          await Promise.race([arrived.promise, given.promise]);
          signal.removeEventListener("abort", giveUp);
        }
        if (waiting.length === 0) return null;
        const piece = waiting.subarray(0, bytes);
        waiting = waiting.subarray(bytes);
        return piece;
      },
      listen(signal, on) {
        if (on) heard.add(signal);
        else heard.delete(signal);
        ears.listening(runId, [...heard]);
      },
      close() {
        over = true;
        arrived.resolve();
      },
    },
  };
}
