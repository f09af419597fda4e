import { type Failure, fail, ok, type Result, unreachable } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import { type Started, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { Incarnation } from "./incarnation.ts";
import { afterCrash, type CrashHistory, NO_CRASHES } from "./restart-policy.ts";

/** A pause shorter than this is waited out by a call; a longer one fails it at once. */
const PATIENCE_MS = 1_000;
/** Above every start timeout that a manifest may ask for, with the time to clean up after it. */
const LONGEST_START_MS = 10 * 60_000;

export type SupervisorState =
  | { readonly is: "idle" }
  | { readonly is: "starting"; readonly abort: AbortController; readonly started: Promise<Started<Incarnation>> }
  | { readonly is: "ready"; readonly incarnation: Incarnation; readonly sinceMs: number }
  | { readonly is: "pausing"; readonly untilMs: number; readonly failure: Failure }
  /** Starting again could not help; a person has to change something. */
  | { readonly is: "refused"; readonly failure: Failure }
  | { readonly is: "stopping"; readonly stopped: Promise<void> }
  | { readonly is: "closed" };

/** A running plugin that somebody uses. A process that is drained or stopped for idleness waits until nobody does. */
export type Held = {
  readonly incarnation: Incarnation;
  /** To be called when the use is over; once. */
  release(): void;
};

/** Keeps at most one process of a plugin: starts it when it is needed, and again, after a pause, when it died. */
export type Supervisor = {
  state(): SupervisorState;
  /** How often it was started again since the daemon started. */
  restarts(): number;
  /** The running plugin, started if need be. Giving up on it does not stop the start, which serves the next call too. */
  acquire(signal: AbortSignal): Promise<Result<Held>>;
  /** Ends the process for good. */
  close(reason: string): Promise<void>;
};

export type SupervisorParts = {
  readonly name: string;
  readonly start: (signal: AbortSignal) => Promise<Started<Incarnation>>;
  readonly log: LogRing;
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly jitter: () => number;
};

export function createSupervisor({ name, start, log, now, jitter }: SupervisorParts): Supervisor {
  let state: SupervisorState = { is: "idle" };
  let history: CrashHistory = NO_CRASHES;
  let starts = 0;
  /** Of the latest process; a stop waits for it also when that died by itself. */
  let cleaned: Promise<void> = Promise.resolve();
  // Through a function, because the compiler does not see that an awaited state may have changed.
  const current = (): SupervisorState => state;

  const crashed = (failure: Failure, readyMs: number) => {
    const next = afterCrash(history, now(), readyMs, jitter());
    history = next.history;
    state = { is: "pausing", untilMs: next.untilMs, failure };
    log.add(
      "host",
      `${failure.message}; it may start again in ${saySeconds(next.untilMs - now())}${next.breaker ? " (too many crashes)" : ""}`,
    );
  };

  const begin = () => {
    const abort = new AbortController();
    starts++;
    const started = start(abort.signal).then((outcome) => {
      // A stop that came meanwhile owns the state, and ends what was started.
      if (state !== mine) return outcome;
      if (outcome.ok) settleIn(outcome.value);
      else if (outcome.again) crashed(outcome.failure, 0);
      else {
        state = { is: "refused", failure: outcome.failure };
        log.add("host", outcome.failure.message);
      }
      return outcome;
    });
    const mine: SupervisorState = { is: "starting", abort, started };
    state = mine;
  };

  const settleIn = (incarnation: Incarnation) => {
    const sinceMs = now();
    cleaned = incarnation.cleaned;
    const mine: SupervisorState = { is: "ready", incarnation, sinceMs };
    state = mine;
    void incarnation.exited.then((exit) => {
      if (state !== mine) return;
      const hint = log.lastErrors();
      const message = `plugin "${name}" ${sayExit(exit)}`;
      crashed(
        { code: "unavailable", message, ...(hint === "" ? {} : { hint: `its last words: ${hint}` }) },
        now() - sinceMs,
      );
    });
  };

  const stop = async (reason: string): Promise<void> => {
    const stopped = endState(state, reason);
    const mine: SupervisorState = { is: "stopping", stopped };
    state = mine;
    await stopped;
    await cleaned;
    // A later stop, if there is one, waits for this one and ends it all.
    if (state === mine) state = { is: "closed" };
  };

  const running = async (signal: AbortSignal): Promise<Result<Incarnation>> => {
    // Gone, but its last words are still being read.
    if (state.is === "ready" && state.incarnation.isGone()) await state.incarnation.exited;
    if (state.is === "pausing") {
      const pauseMs = state.untilMs - now();
      if (pauseMs > PATIENCE_MS) return pauseFailure(name, state.failure, pauseMs);
      const waited = await waitFor(new Promise<never>(() => {}), Math.max(0, pauseMs), signal);
      if (waited.came === "abort") return cancelled(name);
    }
    // Several calls may have waited for the same pause; the first one starts.
    const before = current();
    if (before.is === "idle" || (before.is === "pausing" && before.untilMs <= now())) begin();
    const then = current();
    switch (then.is) {
      case "ready":
        return ok(then.incarnation);
      case "refused":
        return { ok: false, failure: then.failure };
      case "pausing":
        return pauseFailure(name, then.failure, then.untilMs - now());
      case "starting": {
        const waited = await waitFor(then.started, LONGEST_START_MS, signal);
        if (waited.came === "abort") return cancelled(name);
        if (waited.came === "timeout")
          return fail("timed_out", `plugin "${name}" does not come to an end of its start`);
        return waited.value.ok ? ok(waited.value.value) : { ok: false, failure: waited.value.failure };
      }
      case "idle":
      case "stopping":
      case "closed":
        return fail("unavailable", `plugin "${name}" is being stopped`, { hint: "try again" });
      default:
        return unreachable(then);
    }
  };

  return {
    state: () => state,
    restarts: () => Math.max(0, starts - 1),
    acquire: async (signal) => {
      const incarnation = await running(signal);
      return incarnation.ok ? ok({ incarnation: incarnation.value, release: () => {} }) : incarnation;
    },
    close: stop,
  };
}

async function endState(state: SupervisorState, reason: string): Promise<void> {
  switch (state.is) {
    case "ready":
      return state.incarnation.stop(reason);
    case "starting": {
      state.abort.abort();
      const outcome = await state.started;
      if (outcome.ok) await outcome.value.stop(reason);
      return;
    }
    case "stopping":
      return state.stopped;
    case "idle":
    case "pausing":
    case "refused":
    case "closed":
      return;
    default:
      return unreachable(state);
  }
}

function pauseFailure(name: string, failure: Failure, pauseMs: number): Result<never> {
  const hint = `${failure.hint === undefined ? "" : `${failure.hint}; `}or start it now with: claw plugin reload ${name}`;
  return fail(failure.code, `${failure.message}; it may start again in ${saySeconds(pauseMs)}`, { hint });
}

function cancelled(name: string): Result<never> {
  return fail("cancelled", `the call was cancelled before plugin "${name}" was ready`);
}

function saySeconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`;
}
