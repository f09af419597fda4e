import type { PersonsWord } from "../../core/domain/permission-decision.ts";
import { showableLine } from "../../core/domain/showable.ts";
import type { PermissionKind } from "../permission/permission.ts";
import type { BrokerContext } from "./capabilities.ts";

/** Longest permission that people are asked about, UTF-8 bytes. */
const QUESTION_LIMIT_BYTES = 1024;
/** So many refusals of a kind, and the rest of that kind is refused unasked. */
const REFUSALS_MAX = 3;

/** What came of a question. The guest learns of no difference between the ways to a no. */
export type Word = {
  readonly allowed: boolean;
  readonly scope: "once" | "session" | "always";
  readonly by: "remembered" | "person" | "nobody" | "storm";
  readonly because: string;
};

/** Asks people in a guest's name: one question at a time, none twice that was refused, and no storms. */
export type Asking = {
  /** @param permission in the permission language, with its real value */
  ask(context: BrokerContext, kind: PermissionKind, permission: string): Promise<Word>;
  /** Questions that are open with a person now. */
  readonly open: number;
  /** Takes every open question for one that nobody answered. */
  close(): void;
};

function no(by: Word["by"], because: string): Word {
  return { allowed: false, scope: "once", by, because };
}

export function openAsking(principal: string): Asking {
  const never = new Set<string>();
  const refusals = new Map<PermissionKind, number>();
  const closed = Promise.withResolvers<PersonsWord>();
  let open = 0;
  let turn: Promise<unknown> = Promise.resolve();

  async function hear(context: BrokerContext, permission: string): Promise<PersonsWord> {
    open += 1;
    try {
      return await Promise.race([context.ask({ principal, permission: showableLine(permission) }), closed.promise]);
    } finally {
      open -= 1;
    }
  }

  async function decide(context: BrokerContext, kind: PermissionKind, permission: string): Promise<Word> {
    if (never.has(permission)) return no("remembered", "it was refused before");
    const refusedBefore = refusals.get(kind) ?? 0;
    if (refusedBefore >= REFUSALS_MAX) return no("storm", `${refusedBefore} questions of this kind were refused`);
    if (Buffer.byteLength(permission) > QUESTION_LIMIT_BYTES) return no("storm", "it is too long to be asked about");
    const word = await hear(context, permission);
    if (word.said === "yes") return { allowed: true, scope: word.scope, by: "person", because: `yes, ${word.scope}` };
    refusals.set(kind, refusedBefore + 1);
    if (word.said === "nobody") return no("nobody", "nobody answered");
    never.add(permission);
    return no("person", `no, ${word.scope}`);
  }

  return {
    ask(context, kind, permission) {
      const answer = turn.then(() => decide(context, kind, permission));
      // A question that breaks must not break those behind it.
      turn = answer.catch(() => undefined);
      return answer;
    },
    get open() {
      return open;
    },
    close: () => closed.resolve({ said: "nobody" }),
  };
}
