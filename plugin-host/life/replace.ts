import { ok, type Result } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { Place } from "./place.ts";
import { closedFailure, endState, startSafely } from "./supervisor-state.ts";
import type { Generation, Tenure } from "./tenure.ts";

export type Replacement = {
  readonly name: string;
  readonly log: LogRing;
  readonly next: Generation;
  /** What the old process is told. */
  readonly reason: string;
};

/** Starts the next generation beside a running process, and gives it the place when it is ready. */
export async function replaceRunning(
  place: Place,
  old: Tenure,
  { name, log, next, reason }: Replacement,
): Promise<Result<void>> {
  const signal = place.hurry();
  const started = await startSafely(next, signal);
  if (!started.ok) {
    log.add("host", `${started.failure.message}; the old one stays`);
    return { ok: false, failure: started.failure };
  }
  if (signal.aborted) {
    await started.value.stop(reason, 0);
    return closedFailure(name);
  }
  const now = place.state();
  place.renew(next);
  place.settleIn(started.value, next);
  if (!old.isDismissed()) void place.retire(old, reason);
  // The old one died meanwhile, and was being started again.
  if (now.is === "starting") void endState(now, reason);
  // Or it was started again already.
  else if (now.is === "ready" && now.tenure !== old) void place.retire(now.tenure, reason);
  return ok(undefined);
}

/** Ends a running process first, because two must never overlap. */
export async function replaceSingleton(
  place: Place,
  old: Tenure,
  { log, next, reason }: Replacement,
): Promise<Result<void>> {
  const { started } = place.begin(next, place.retire(old, reason), ({ failure }) => {
    log.add("host", `${failure.message}; the next call starts the old one`);
    return { is: "idle" };
  });
  const outcome = await started;
  if (!outcome.ok) return { ok: false, failure: outcome.failure };
  place.renew(next);
  return ok(undefined);
}
