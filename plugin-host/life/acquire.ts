import { fail, ok, type Result, unreachable } from "../../core/domain/failure.ts";
import { waitFor } from "../link/wait.ts";
import { type Clock, letPass } from "./clock.ts";
import type { Place } from "./place.ts";
import type { RestartBudget } from "./restart-budget.ts";
import { closedFailure, pauseFailure, type Starting } from "./supervisor-state.ts";
import type { Held } from "./tenure.ts";

/** A pause shorter than this is waited out by a call; a longer one fails it at once. */
const PATIENCE_MS = 1_000;
/** Above every start timeout that a manifest may ask for, with the time to clean up after it and before it. */
const LONGEST_START_MS = 10 * 60_000;
/** What was killed is gone by then, and its last words are read. */
const LONGEST_DEATH_MS = 5_000;

export type AcquireParts = { readonly name: string; readonly clock: Clock; readonly budget: RestartBudget };

/** The process of a place, started if need be. Giving up on it does not stop the start, which serves the next call too. */
export async function acquire(place: Place, parts: AcquireParts, signal: AbortSignal): Promise<Result<Held>> {
  const patienceEndsMs = parts.clock.now() + PATIENCE_MS;
  for (;;) {
    if (signal.aborted) return fail("cancelled", `the call was cancelled before plugin "${parts.name}" was ready`);
    const stepped = await step(place, parts, patienceEndsMs, signal);
    if (stepped !== undefined) return stepped;
  }
}

/** What a step came to: a process, a failure, or undefined when it is worth looking again. */
type Stepped = Result<Held> | undefined;

async function step(place: Place, parts: AcquireParts, patienceEndsMs: number, signal: AbortSignal): Promise<Stepped> {
  const { name } = parts;
  const now = place.state();
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
      const blocked = place.generation().blocked();
      if (blocked !== undefined) return { ok: false, failure: blocked };
      return awaitStart(place, place.startAgain(), name, signal);
    }
    case "pausing":
    case "broken":
      return stepOutOfPause(place, now, parts, patienceEndsMs, signal);
    case "refused":
      return { ok: false, failure: now.failure };
    case "starting":
      return awaitStart(place, now, name, signal);
    case "stopping": {
      const waited = await waitFor(now.stopped, LONGEST_START_MS, signal);
      return waited.came === "timeout" ? fail("unavailable", `plugin "${name}" does not stop`) : undefined;
    }
    case "closed":
      return closedFailure(name);
    default:
      return unreachable(now);
  }
}

async function stepOutOfPause(
  place: Place,
  now: Parameters<typeof pauseFailure>[1],
  { name, clock, budget }: AcquireParts,
  patienceEndsMs: number,
  signal: AbortSignal,
): Promise<Stepped> {
  const pauseMs = now.untilMs - clock.now();
  if (pauseMs > 0) {
    if (clock.now() + pauseMs > patienceEndsMs) return pauseFailure(name, now, pauseMs);
    await letPass(clock, pauseMs, signal);
    return undefined;
  }
  const blocked = place.generation().blocked();
  if (blocked !== undefined) return { ok: false, failure: blocked };
  const waitMs = budget.take();
  if (waitMs === 0) return awaitStart(place, place.startAgain(), name, signal);
  place.pauseUntil(clock.now() + waitMs);
  return undefined;
}

async function awaitStart(place: Place, { started }: Starting, name: string, signal: AbortSignal): Promise<Stepped> {
  const waited = await waitFor(started, LONGEST_START_MS, signal);
  if (waited.came === "timeout") return fail("timed_out", `plugin "${name}" does not come to an end of its start`);
  if (waited.came === "abort" || waited.value.ok) return undefined;
  // Another generation may have taken the place of the one that failed.
  const then = place.state();
  return then.is === "ready" || then.is === "starting" ? undefined : { ok: false, failure: waited.value.failure };
}
