import { HookVerdict } from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../../domain/event.ts";
import type { Failure } from "../../domain/failure.ts";
import type { HookAnswer, HookOutcome, HookPoint, HookReceipt } from "../../domain/hook.ts";

const VERDICTS: Readonly<Record<HookAnswer["do"], HookVerdict>> = {
  pass: HookVerdict.PASS,
  modify: HookVerdict.MODIFY,
  block: HookVerdict.BLOCK,
  answer: HookVerdict.ANSWER,
  skip: HookVerdict.SKIP,
  ask: HookVerdict.ASK,
};

/** The name of the hook that gave a verdict, for messages. */
export function hookThatSaid(verdict: HookAnswer["do"], receipts: readonly HookReceipt[]): string {
  const receipt = receipts.find((one) => one.verdict === verdict);
  return receipt === undefined ? "a hook" : `hook "${receipt.hook}"`;
}

/** Why the turn cannot go on past a point at which hooks may stop it; undefined when it can. With nobody to ask, an ask stops. */
export function stoppedBy({ answer, receipts }: HookOutcome, point: HookPoint): Failure | undefined {
  if (answer.do !== "block" && answer.do !== "ask") return undefined;
  const message = `${hookThatSaid(answer.do, receipts)} stopped the turn at ${point}: ${answer.because}`;
  return { code: "denied", message, hint: "claw hook list shows it; change it, or say something else" };
}

/** One `hookRan` a hook that was considered. */
export function receiptBodies(
  turnId: string,
  callId: string,
  point: HookPoint,
  receipts: readonly HookReceipt[],
): readonly EventBody[] {
  return receipts.map(({ hook, verdict, because, ms, ran }) => ({
    case: "hookRan",
    value: { turnId, callId, point, hook, verdict: VERDICTS[verdict], because, ms, ran },
  }));
}
