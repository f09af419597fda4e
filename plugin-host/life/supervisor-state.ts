import { type Failure, fail, type Result, unreachable } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import { failedForNow, type Started } from "../link/start-outcome.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Generation, Tenure } from "./tenure.ts";

export type Starting = {
  readonly is: "starting";
  readonly abort: AbortController;
  readonly started: Promise<Started<Incarnation>>;
};

export type SupervisorState =
  | { readonly is: "idle" }
  | Starting
  | { readonly is: "ready"; readonly incarnation: Incarnation; readonly tenure: Tenure }
  | { readonly is: "pausing"; readonly untilMs: number; readonly failure: Failure }
  /** It crashed too often. After `untilMs` one start is tried, when a call wants it. */
  | { readonly is: "broken"; readonly untilMs: number; readonly failure: Failure }
  /** Starting again could not help; a person has to change something. */
  | { readonly is: "refused"; readonly failure: Failure }
  /** Resolves when it is something else. */
  | { readonly is: "stopping"; readonly stopped: Promise<void> }
  | { readonly is: "closed" };

/** A start that throws must not leave anybody waiting. */
export async function startSafely({ start }: Generation, signal: AbortSignal): Promise<Started<Incarnation>> {
  try {
    return await start(signal);
  } catch (cause) {
    return failedForNow(
      "unavailable",
      `the start broke off: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/** Ends what a state holds, at once. */
export async function endState(state: SupervisorState, reason: string): Promise<void> {
  switch (state.is) {
    case "ready":
      return state.tenure.stop(reason);
    case "starting": {
      state.abort.abort();
      const outcome = await state.started;
      if (outcome.ok) await outcome.value.stop(reason, 0);
      return;
    }
    case "stopping":
      return state.stopped;
    case "idle":
    case "pausing":
    case "broken":
    case "refused":
    case "closed":
      return;
    default:
      return unreachable(state);
  }
}

/** For a call that does not wait for the end of a pause. */
export function pauseFailure(
  name: string,
  { is, failure }: Extract<SupervisorState, { is: "pausing" | "broken" }>,
  pauseMs: number,
): Result<never> {
  const words = failure.hint === undefined ? "" : `${failure.hint}; `;
  const often = is === "broken" ? " and crashed too often" : "";
  return fail(failure.code, `${failure.message}${often}; it may start again in ${saySeconds(pauseMs)}`, {
    hint: `${words}or start it now with: claw plugin reload ${name}`,
  });
}

export function closedFailure(name: string): Result<never> {
  return fail("unavailable", `plugin "${name}" was stopped`, { hint: "try again" });
}

export function withLastWords(failure: Failure, log: LogRing): Failure {
  const words = log.lastErrors();
  return words === "" ? failure : { ...failure, hint: `its last words: ${words}` };
}

export function saySeconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`;
}
