import type { Failure } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import { failedForNow, isHopeless, type StartFailed, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { Clock } from "./clock.ts";
import type { Incarnation } from "./incarnation.ts";
import { afterCrash, type BreakerLimits, type CrashHistory, NO_CRASHES } from "./restart-policy.ts";
import {
  endState,
  type Starting,
  type SupervisorState,
  saySeconds,
  startSafely,
  withLastWords,
} from "./supervisor-state.ts";
import { beginTenure, type Generation, type Tenure } from "./tenure.ts";

/** The ladder by which a process is stopped, and what is cleaned up after it, end within this. */
const LONGEST_STOP_MS = 10_000;
/** An old process may first finish what it does. */
const LONGEST_LEAVE_MS = 90_000;

/** The end of a process that nobody wanted. */
export type Death = { readonly version: string; readonly pid: number; readonly because: string };

/** The place of one plugin's process: what is there, what was there and is not gone yet, and how that changes. */
export type Place = {
  state(): SupervisorState;
  /** What runs, or is started next. */
  generation(): Generation;
  /** How often it was started again after a crash since the daemon started. */
  restarts(): number;
  /** Aborts when what leaves slowly, or starts beside the present process, must end at once. */
  hurry(): AbortSignal;
  /** Starts the present generation, after a crash or for the first time. What fails counts as a crash. */
  startAgain(): Starting;
  /** Starts another generation when `before` is over. `onFailure` says what the state is when it does not get ready. */
  begin(wanted: Generation, before: Promise<unknown>, onFailure: (failed: StartFailed) => SupervisorState): Starting;
  /** Gives the place to a process that is ready. */
  settleIn(incarnation: Incarnation, of: Generation): void;
  /** Lets a process go when its uses are over. Never rejects. */
  retire(tenure: Tenure, reason: string): Promise<void>;
  /** Ends the present process at once; then the state is what `after` says. */
  stop(reason: string, after: () => SupervisorState): Promise<void>;
  /** Lengthens a pause. */
  pauseUntil(untilMs: number): void;
  /** Names what is started next, with a clean slate: a pause or a refusal is over. What runs stays. */
  renew(next: Generation): void;
  /** Resolves when no process but the present one is left, at the latest after the time that an old one may take. */
  alone(): Promise<void>;
};

export type PlaceParts = {
  readonly name: string;
  readonly generation: Generation;
  readonly log: LogRing;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly jitter: () => number;
  readonly breaker: BreakerLimits;
  readonly onDeath: (death: Death) => void;
};

export function createPlace(parts: PlaceParts): Place {
  const { name, log, clock } = parts;
  let generation = parts.generation;
  let state: SupervisorState = { is: "idle" };
  let history: CrashHistory = NO_CRASHES;
  let restarts = 0;
  /** Every process that is not gone and cleaned up behind, with the promise that it is. */
  const processes = new Map<Incarnation, Promise<void>>();
  let hurry = new AbortController();

  const crashed = (failure: Failure, readyMs: number): SupervisorState => {
    const next = afterCrash(history, { atMs: clock.now(), readyMs, random: parts.jitter() }, parts.breaker);
    history = next.history;
    const tooMany = next.breaker === "open" ? " (too many crashes)" : "";
    log.add("host", `${failure.message}; it may start again in ${saySeconds(next.untilMs - clock.now())}${tooMany}`);
    return { is: next.breaker === "open" ? "broken" : "pausing", untilMs: next.untilMs, failure };
  };

  const refused = (failure: Failure): SupervisorState => {
    log.add("host", failure.message);
    return { is: "refused", failure };
  };

  const retire = async (tenure: Tenure, reason: string): Promise<void> => {
    try {
      await tenure.retire(reason, hurry.signal);
    } catch (cause) {
      log.add("host", `it did not end cleanly: ${String(cause)}`);
    }
  };

  const others = (): Promise<unknown> => {
    const present = state.is === "ready" ? state.incarnation : undefined;
    return Promise.all([...processes].flatMap(([one, gone]) => (one === present ? [] : [gone])));
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
      state = isHopeless(exit) ? refused(failure) : crashed(failure, clock.now() - tenure.sinceMs);
    });
  };

  const begin: Place["begin"] = (wanted, before, onFailure) => {
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
      else state = onFailure(outcome);
      return outcome;
    };
    const mine: Starting = { is: "starting", abort, started: start() };
    state = mine;
    return mine;
  };

  return {
    state: () => state,
    generation: () => generation,
    restarts: () => restarts,
    hurry: () => hurry.signal,
    startAgain: () => {
      if (state.is === "pausing" || state.is === "broken") restarts++;
      return begin(generation, Promise.resolve(), ({ again, failure }) =>
        again ? crashed(failure, 0) : refused(failure),
      );
    },
    begin,
    settleIn,
    retire,
    stop: (reason, after) => {
      hurry.abort();
      hurry = new AbortController();
      const ended = endState(state, reason);
      const end = async () => {
        await ended;
        await waitFor(others(), LONGEST_STOP_MS);
        // A later stop, if there is one, waits for this one and ends it all.
        if (state === mine) state = after();
      };
      const mine: SupervisorState = { is: "stopping", stopped: end() };
      state = mine;
      return mine.stopped;
    },
    pauseUntil: (untilMs) => {
      if (state.is === "pausing" || state.is === "broken") state = { ...state, untilMs };
    },
    renew: (next) => {
      history = NO_CRASHES;
      generation = next;
      if (state.is === "pausing" || state.is === "broken" || state.is === "refused") state = { is: "idle" };
    },
    alone: async () => {
      await waitFor(others(), LONGEST_LEAVE_MS);
    },
  };
}
