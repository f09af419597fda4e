import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { waitFor } from "../link/wait.ts";

/** Gives each of at most `places` callers a place; more wait in line, at most `waiting` of them. */
export type CallQueue = {
  /**
   * The place is given back by calling the value, once. `exhausted` when the line is full, `timed_out` after
   * `timeoutMs`, `cancelled` on abort.
   */
  enter(timeoutMs: number, signal: AbortSignal): Promise<Result<() => void>>;
};

export function createCallQueue(plugin: string, places: number, waiting: number): CallQueue {
  let free = places;
  const line: (() => void)[] = [];
  const leave = () => {
    const next = line.shift();
    if (next === undefined) free++;
    else next();
  };
  const place = () => {
    let held = true;
    return () => {
      if (held) leave();
      held = false;
    };
  };
  return {
    enter: async (timeoutMs, signal) => {
      if (signal.aborted) return cancelled(plugin);
      if (free > 0) {
        free--;
        return ok(place());
      }
      if (line.length >= waiting) {
        return fail("exhausted", `plugin "${plugin}" has ${places} calls running and ${waiting} waiting`, {
          hint: "wait for some of them to end",
        });
      }
      const { promise, resolve } = Promise.withResolvers<() => void>();
      const go = () => resolve(place());
      line.push(go);
      const waited = await waitFor(promise, timeoutMs, signal);
      if (waited.came === "value") return ok(waited.value);
      const at = line.indexOf(go);
      // The place came in the same instant as the end of the wait: it goes to the next one.
      if (at < 0) (await promise)();
      else line.splice(at, 1);
      if (waited.came === "abort") return cancelled(plugin);
      return fail("timed_out", `the call waited ${timeoutMs} ms for its turn at plugin "${plugin}"`, {
        hint: `it takes ${places} calls at once; make fewer at a time`,
      });
    },
  };
}

function cancelled(plugin: string): Result<never> {
  return fail("cancelled", `the call was cancelled before plugin "${plugin}" could take it`);
}
