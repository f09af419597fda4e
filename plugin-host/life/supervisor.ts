import { type Failure, fail, ok, type Result, unreachable } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import { failedForNow, isHopeless, type StartFailed, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import { type Clock, letPass } from "./clock.ts";
import type { Incarnation } from "./incarnation.ts";
import type { RestartBudget } from "./restart-budget.ts";
import { afterCrash, type BreakerLimits, type CrashHistory, NO_CRASHES } from "./restart-policy.ts";
import {
  closedFailure,
  endState,
  pauseFailure,
  type Starting,
  type SupervisorState,
  saySeconds,
  startSafely,
  withLastWords,
} from "./supervisor-state.ts";
import { beginTenure, type Generation, type Held, type Tenure } from "./tenure.ts";

/** A pause shorter than this is waited out by a call; a longer one fails it at once. */
const PATIENCE_MS = 1_000;
/** Above every start timeout that a manifest may ask for, with the time to clean up after it and before it. */
const LONGEST_START_MS = 10 * 60_000;
/** What was killed is gone by then, and its last words are read. */
const LONGEST_DEATH_MS = 5_000;
/** The ladder by which a process is stopped, and what is cleaned up after it, end within this. */
const LONGEST_STOP_MS = 10_000;
/** An old process may first finish what it does. */
const LONGEST_LEAVE_MS = 90_000;

/** The end of a process that nobody wanted. */
export type Death = { readonly version: string; readonly pid: number; readonly because: string };

/** Keeps a process of a plugin: starts it when it is needed, and again, after a pause, when it died. */
export type Supervisor = {
  state(): SupervisorState;
  /** How often it was started again after a crash since the daemon started. */
  restarts(): number;
  /** The running plugin, started if need be. Giving up on it does not stop the start, which serves the next call too. */
  acquire(signal: AbortSignal): Promise<Result<Held>>;
  /**
   * Puts another generation in the place of the present one, with its crashes forgotten. Beside a running process the next
   * one is started; when it is ready, calls go to it, and the old one leaves when its own calls are over. When it does not
   * become ready, nothing changes and the failure is told. Nothing is started beside nothing.
   */
  replace(next: Generation, reason: string): Promise<Result<void>>;
  /** Ends the process at once, and puts another generation in its place. Calls that come meanwhile wait. */
  replaceAtOnce(next: Generation, reason: string): Promise<Result<void>>;
  /** Resolves when no process but the present one is left, at the latest after the time that an old one may take. */
  alone(): Promise<void>;
  /** Ends every process for good. */
  close(reason: string): Promise<void>;
};

export type SupervisorParts = {
  readonly name: string;
  readonly generation: Generation;
  readonly log: LogRing;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly jitter: () => number;
  readonly budget: RestartBudget;
  readonly breaker: BreakerLimits;
  readonly onDeath: (death: Death) => void;
};

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { name, log, clock } = parts;
  let generation = parts.generation;
  let state: SupervisorState = { is: "idle" };
  let history: CrashHistory = NO_CRASHES;
  let restarts = 0;
  /** Every process that is not gone and cleaned up behind, with the promise that it is. */
  const processes = new Map<Incarnation, Promise<void>>();
  let isClosing = false;
  /** Aborts when what leaves slowly, or starts beside the present process, must end at once. */
  let hurry = new AbortController();
  // Through a function, because the compiler does not see that an awaited state may have changed.
  const current = (): SupervisorState => state;

  const crashed = (failure: Failure, readyMs: number) => {
    const next = afterCrash(history, { atMs: clock.now(), readyMs, random: parts.jitter() }, parts.breaker);
    history = next.history;
    state = { is: next.breaker === "open" ? "broken" : "pausing", untilMs: next.untilMs, failure };
    const tooMany = next.breaker === "open" ? " (too many crashes)" : "";
    log.add("host", `${failure.message}; it may start again in ${saySeconds(next.untilMs - clock.now())}${tooMany}`);
  };

  const refuse = (failure: Failure) => {
    state = { is: "refused", failure };
    log.add("host", failure.message);
  };

  const retire = async (tenure: Tenure, reason: string): Promise<void> => {
    try {
      await tenure.retire(reason, hurry.signal);
    } catch (cause) {
      log.add("host", `it did not end cleanly: ${String(cause)}`);
    }
  };

  const others = (): Promise<unknown> => {
    const now = current();
    return Promise.all(
      [...processes].flatMap(([one, gone]) => (now.is === "ready" && now.incarnation === one ? [] : [gone])),
    );
  };

  const settleIn = (incarnation: Incarnation, of: Generation) => {
    const retireIdle = () => {
      if (state !== mine) return;
      state = { is: "idle" };
      void retire(tenure, `nobody used it for ${saySeconds(of.idleStopMs)}`);
    };
    const tenure = beginTenure({ incarnation, generation: of, clock, log, onIdle: retireIdle });
    const mine: SupervisorState = { is: "ready", incarnation, tenure };
    generation = of;
    state = mine;
    processes.set(
      incarnation,
      incarnation.cleaned.then(() => void processes.delete(incarnation)),
    );
    void incarnation.exited.then((exit) => {
      if (tenure.isDismissed()) return;
      const killed = incarnation.killedBecause();
      const how = killed === undefined ? sayExit(exit) : `was killed: ${killed}`;
      parts.onDeath({ version: of.version, pid: incarnation.pid, because: how });
      if (state !== mine) return;
      const failure = withLastWords({ code: "unavailable", message: `plugin "${name}" ${how}` }, log);
      if (isHopeless(exit)) refuse(failure);
      else crashed(failure, clock.now() - tenure.sinceMs);
    });
  };

  const begin = (wanted: Generation, before: Promise<unknown>, onFailure: (failed: StartFailed) => void) => {
    const abort = new AbortController();
    const start = async () => {
      await before;
      if (wanted.singleton) await waitFor(others(), LONGEST_LEAVE_MS, abort.signal);
      const outcome =
        wanted.singleton && processes.size > 0
          ? failedForNow("unavailable", `the old process of plugin "${name}" does not end`)
          : await startSafely(wanted, abort.signal);
      // What came meanwhile owns the state, and ends what was started.
      if (state !== mine) return outcome;
      if (outcome.ok) settleIn(outcome.value, wanted);
      else onFailure(outcome);
      return outcome;
    };
    const mine: Starting = { is: "starting", abort, started: start() };
    state = mine;
    return mine;
  };

  const beginAgain = () =>
    begin(generation, Promise.resolve(), (failed) => {
      if (failed.again) crashed(failed.failure, 0);
      else refuse(failed.failure);
    });

  /** Ends the present process at once; then the state is what `after` says. */
  const stop = (reason: string, after: () => SupervisorState): Promise<void> => {
    hurry.abort();
    hurry = new AbortController();
    const ended = endState(state, reason);
    const end = async () => {
      await ended;
      await waitFor(others(), LONGEST_STOP_MS);
      // A later stop, if there is one, waits for this one and ends it all.
      if (state === mine) state = after();
    };
    const mine = { is: "stopping", stopped: end() } as const;
    state = mine;
    return mine.stopped;
  };

  /** One step towards a running process: it, a failure, or undefined when it is worth looking again. */
  const step = async (patienceEndsMs: number, signal: AbortSignal): Promise<Result<Held> | undefined> => {
    const now = current();
    switch (now.is) {
      case "ready": {
        if (!now.incarnation.isGone()) return ok(now.tenure.hold());
        // Gone, but its last words are still being read.
        const waited = await waitFor(now.incarnation.exited, LONGEST_DEATH_MS, signal);
        return waited.came === "timeout"
          ? fail("unavailable", `plugin "${name}" was killed and does not end`)
          : undefined;
      }
      case "idle": {
        const blocked = generation.blocked();
        if (blocked !== undefined) return { ok: false, failure: blocked };
        beginAgain();
        return undefined;
      }
      case "pausing":
      case "broken": {
        const pauseMs = now.untilMs - clock.now();
        if (pauseMs > 0) {
          if (clock.now() + pauseMs > patienceEndsMs) return pauseFailure(name, now, pauseMs);
          await letPass(clock, pauseMs, signal);
          return undefined;
        }
        const blocked = generation.blocked();
        if (blocked !== undefined) return { ok: false, failure: blocked };
        const waitMs = parts.budget.take();
        if (waitMs > 0) state = { ...now, untilMs: clock.now() + waitMs };
        else {
          restarts++;
          beginAgain();
        }
        return undefined;
      }
      case "refused":
        return { ok: false, failure: now.failure };
      case "starting": {
        const waited = await waitFor(now.started, LONGEST_START_MS, signal);
        if (waited.came === "timeout")
          return fail("timed_out", `plugin "${name}" does not come to an end of its start`);
        if (waited.came === "abort" || waited.value.ok) return undefined;
        // Another generation may have taken the place of the one that failed.
        const then = current();
        return then.is === "ready" || then.is === "starting" ? undefined : { ok: false, failure: waited.value.failure };
      }
      case "stopping": {
        const waited = await waitFor(now.stopped, LONGEST_START_MS, signal);
        return waited.came === "timeout" ? fail("unavailable", `plugin "${name}" does not stop`) : undefined;
      }
      case "closed":
        return closedFailure(name);
      default:
        return unreachable(now);
    }
  };

  const replaceRunning = async (old: Tenure, next: Generation, reason: string): Promise<Result<void>> => {
    const { signal } = hurry;
    const started = await startSafely(next, signal);
    if (!started.ok) {
      log.add("host", `${started.failure.message}; the old one stays`);
      return { ok: false, failure: started.failure };
    }
    if (signal.aborted) {
      await started.value.stop(reason, 0);
      return closedFailure(name);
    }
    history = NO_CRASHES;
    const now = current();
    settleIn(started.value, next);
    if (!old.isDismissed()) void retire(old, reason);
    // The old one died meanwhile, and was being started again.
    if (now.is === "starting") void endState(now, reason);
    // Or it was started again already.
    else if (now.is === "ready" && now.tenure !== old) void retire(now.tenure, reason);
    return ok(undefined);
  };

  const replaceSingleton = async (old: Tenure, next: Generation, reason: string): Promise<Result<void>> => {
    const { started } = begin(next, retire(old, reason), ({ failure }) => {
      state = { is: "idle" };
      log.add("host", `${failure.message}; the next call starts the old one`);
    });
    const outcome = await started;
    if (outcome.ok) history = NO_CRASHES;
    return outcome.ok ? ok(undefined) : { ok: false, failure: outcome.failure };
  };

  return {
    state: () => state,
    restarts: () => restarts,
    acquire: async (signal) => {
      const patienceEndsMs = clock.now() + PATIENCE_MS;
      for (;;) {
        if (signal.aborted) return fail("cancelled", `the call was cancelled before plugin "${name}" was ready`);
        const stepped = await step(patienceEndsMs, signal);
        if (stepped !== undefined) return stepped;
      }
    },
    replace: async (next, reason) => {
      const before = current();
      if (before.is === "starting") await before.started;
      if (before.is === "stopping") await before.stopped;
      const now = current();
      if (isClosing) return closedFailure(name);
      if (now.is === "ready" && !now.incarnation.isGone()) {
        const mustBeAlone = next.singleton || generation.singleton;
        return (mustBeAlone ? replaceSingleton : replaceRunning)(now.tenure, next, reason);
      }
      history = NO_CRASHES;
      generation = next;
      if (now.is !== "ready") state = { is: "idle" };
      return ok(undefined);
    },
    replaceAtOnce: async (next, reason) => {
      if (isClosing) return closedFailure(name);
      await stop(reason, () => {
        history = NO_CRASHES;
        generation = next;
        return { is: "idle" };
      });
      return isClosing ? closedFailure(name) : ok(undefined);
    },
    alone: async () => {
      await waitFor(others(), LONGEST_LEAVE_MS);
    },
    close: (reason) => {
      isClosing = true;
      return stop(reason, () => ({ is: "closed" }));
    },
  };
}
