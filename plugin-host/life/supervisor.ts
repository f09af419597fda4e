import { ok, type Result } from "../../core/domain/failure.ts";
import { type AcquireParts, acquire } from "./acquire.ts";
import { createPlace, type PlaceParts } from "./place.ts";
import { replaceRunning, replaceSingleton } from "./replace.ts";
import { closedFailure, type SupervisorState } from "./supervisor-state.ts";
import type { Generation, Held } from "./tenure.ts";

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

export type SupervisorParts = PlaceParts & AcquireParts;

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { name, log } = parts;
  const place = createPlace(parts);
  let isClosing = false;

  return {
    state: place.state,
    restarts: place.restarts,
    acquire: (signal) => acquire(place, parts, signal),
    replace: async (next, reason) => {
      const before = place.state();
      if (before.is === "starting") await before.started;
      if (before.is === "stopping") await before.stopped;
      const now = place.state();
      if (isClosing) return closedFailure(name);
      if (now.is === "ready" && !now.incarnation.isGone()) {
        const mustBeAlone = next.singleton || place.generation().singleton;
        return (mustBeAlone ? replaceSingleton : replaceRunning)(place, now.tenure, { name, log, next, reason });
      }
      place.renew(next);
      return ok(undefined);
    },
    replaceAtOnce: async (next, reason) => {
      if (isClosing) return closedFailure(name);
      await place.stop(reason, () => {
        place.renew(next);
        return { is: "idle" };
      });
      return isClosing ? closedFailure(name) : ok(undefined);
    },
    alone: place.alone,
    close: (reason) => {
      isClosing = true;
      return place.stop(reason, () => ({ is: "closed" }));
    },
  };
}
