import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { showableLine } from "../../core/domain/showable.ts";
import type { Permission } from "../permission/permission.ts";
import type { BrokerContext } from "./capabilities.ts";

/** Decisions of one guest that are written down in a second; beyond that, one is counted or waits, as its weight says. */
export const DECISIONS_PER_SECOND = 200;

export type Decision = Omit<PermissionDecision, "principal" | "sourceHash" | "leftOut">;

/** `look`: may be left out when there are too many. `act`: waits for its turn, because it must not happen unrecorded. */
export type Weight = "look" | "act";

/** The weight of a yes. Whoever sends something to the network may change something there. */
export function weightOf(permission: Permission): Weight {
  switch (permission.kind) {
    case "read":
    case "env":
    case "sys":
      return "look";
    case "memory":
      return permission.access === "query" || permission.access === "read" ? "look" : "act";
    case "write":
    case "net":
    case "run":
    case "tool":
      return "act";
  }
}

/** Writes down what was decided about one guest, before it is done. */
export type Audit = {
  /** Resolves when it is durable, or a look counted as left out. Fails when it is not written: then nothing may be done. */
  record(context: BrokerContext, decision: Decision, weight: Weight): Promise<Result<void>>;
  /** Ends an event: gives up what waits for its turn, and writes the count of what was left out, if there is any. */
  settle(context: BrokerContext): void;
};

export function openAudit(principal: string, sourceHash: string, now: () => number): Audit {
  let budget = DECISIONS_PER_SECOND;
  let filledAtMs = now();
  let leftOut = 0;
  let lastLeftOut: Decision | undefined;
  const waiting = new Set<() => void>();

  function fillBudget(): void {
    const nowMs = now();
    // A clock that was set back takes nothing away.
    const passedMs = Math.max(0, nowMs - filledAtMs);
    budget = Math.min(DECISIONS_PER_SECOND, budget + (passedMs * DECISIONS_PER_SECOND) / 1000);
    filledAtMs = nowMs;
  }

  /** Until the budget has grown out of its debt; false when the event ends before. */
  function turn(debt: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (came: boolean) => {
        clearTimeout(timer);
        waiting.delete(giveUp);
        resolve(came);
      };
      const giveUp = () => end(false);
      const timer = setTimeout(end, (debt * 1000) / DECISIONS_PER_SECOND, true);
      waiting.add(giveUp);
    });
  }

  async function write(context: BrokerContext, decision: Decision, before: number): Promise<Result<void>> {
    return context.record({
      ...decision,
      principal,
      sourceHash,
      permission: showableLine(decision.permission),
      resolved: showableLine(decision.resolved),
      because: showableLine(decision.because),
      leftOut: before,
    });
  }

  return {
    async record(context, decision, weight) {
      fillBudget();
      if (budget < 1 && weight === "look") {
        leftOut += 1;
        lastLeftOut = decision;
        return ok(undefined);
      }
      // Each takes its share at once, so that they come in order; a guest's open calls limit the debt.
      budget -= 1;
      if (budget < 0 && !(await turn(-budget))) {
        budget += 1;
        return fail("cancelled", "the event ended before it could be recorded");
      }
      const before = leftOut;
      leftOut = 0;
      lastLeftOut = undefined;
      const written = await write(context, decision, before);
      if (!written.ok) leftOut += before;
      return written;
    },
    settle(context) {
      for (const giveUp of waiting) giveUp();
      if (lastLeftOut === undefined) return;
      const last = lastLeftOut;
      const before = leftOut - 1;
      leftOut = 0;
      lastLeftOut = undefined;
      // What it stands for is done long ago: nobody can wait for it, and nothing is left to take back.
      void write(context, last, before);
    },
  };
}
