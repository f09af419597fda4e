import type { Result } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { showable } from "../../core/domain/showable.ts";
import type { BrokerContext } from "./capabilities.ts";

/** Decisions of one guest that are written down in a second; what is beyond is counted. */
export const DECISIONS_PER_SECOND = 200;

export type Decision = Omit<PermissionDecision, "principal" | "sourceHash" | "leftOut">;

/** Writes down what was decided about one guest, before it is done. */
export type Audit = {
  /** Resolves when it is durable, or counted as left out. Fails when it could not be written: then nothing may be done. */
  record(context: BrokerContext, decision: Decision): Promise<Result<void>>;
  /** Writes the count of what was left out since the last record, if there is any. */
  settle(context: BrokerContext): void;
};

export function openAudit(principal: string, sourceHash: string, now: () => number): Audit {
  let budget = DECISIONS_PER_SECOND;
  let filledAtMs = now();
  let leftOut = 0;
  let lastLeftOut: Decision | undefined;

  function takeBudget(): boolean {
    const nowMs = now();
    budget = Math.min(DECISIONS_PER_SECOND, budget + ((nowMs - filledAtMs) * DECISIONS_PER_SECOND) / 1000);
    filledAtMs = nowMs;
    if (budget < 1) return false;
    budget -= 1;
    return true;
  }

  async function write(context: BrokerContext, decision: Decision, before: number): Promise<Result<void>> {
    return context.record({
      ...decision,
      principal,
      sourceHash,
      permission: showable(decision.permission),
      resolved: showable(decision.resolved),
      because: showable(decision.because),
      leftOut: before,
    });
  }

  return {
    async record(context, decision) {
      if (!takeBudget()) {
        leftOut += 1;
        lastLeftOut = decision;
        return { ok: true, value: undefined };
      }
      const before = leftOut;
      leftOut = 0;
      lastLeftOut = undefined;
      const written = await write(context, decision, before);
      if (!written.ok) leftOut += before;
      return written;
    },
    settle(context) {
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
