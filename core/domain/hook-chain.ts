import type { JsonObject } from "@bufbuild/protobuf";
import {
  type HookAnswer,
  type HookContext,
  type HookEvent,
  type HookListener,
  type HookOutcome,
  type HookPoint,
  type HookReceipt,
  type HookReply,
  type HookSource,
  type Hooks,
  NO_HOOKS,
} from "./hook.ts";

/**
 * All hooks as one chain, whatever they are made of: by priority, then by name, each source's own in the order that it
 * gives. They are asked one after the other, and each leaves a receipt.
 */
export function mergeHooks(sources: readonly HookSource[]): Hooks {
  function forget(sessionId: string): void {
    for (const source of sources) source.forget(sessionId);
  }

  return {
    async hears(point) {
      for (const source of sources) if ((await source.listeners(point)).length > 0) return true;
      return false;
    },
    async run(event, context) {
      const heard = mergeInOrder(await Promise.all(sources.map((source) => source.listeners(event.at))));
      const outcome = heard.length === 0 ? NO_HOOKS : await askAll(heard, event, context);
      if (event.at === "session.closed") forget(event.sessionId);
      return outcome;
    },
    forget,
  };
}

async function askAll(heard: readonly HookListener[], event: HookEvent, context: HookContext): Promise<HookOutcome> {
  const merge = mergeReplies(event.at, event.value);
  for (const listener of heard) {
    const current: HookEvent = { ...event, value: merge.value };
    if (merge.decided || !listener.wants(current)) merge.pass(listener.name);
    else merge.add(listener.name, await listener.ask(current, context));
  }
  return merge.outcome();
}

/** What has a place among hooks. */
type Placed = { readonly name: string; readonly priority: number };

/** One list in the order of running. Each given one is in order already, by rules of its own among equals: only heads are compared. */
export function mergeInOrder<T extends Placed>(lists: readonly (readonly T[])[]): readonly T[] {
  const [first = [], ...others] = lists;
  return others.reduce((left, right) => {
    const merged: T[] = [];
    let [atLeft, atRight] = [0, 0];
    for (;;) {
      const [one, other] = [left[atLeft], right[atRight]];
      if (one === undefined) return [...merged, ...right.slice(atRight)];
      if (other === undefined) return [...merged, ...left.slice(atLeft)];
      if (isAfter(one, other)) {
        merged.push(other);
        atRight++;
      } else {
        merged.push(one);
        atLeft++;
      }
    }
  }, first);
}

function isAfter(one: Placed, other: Placed): boolean {
  return one.priority === other.priority ? one.name > other.name : one.priority > other.priority;
}

export type ReplyMerge = {
  /** The value as the hooks before have made it. */
  readonly value: JsonObject;
  /** True once nothing after can change the outcome. */
  readonly decided: boolean;
  add(hook: string, reply: HookReply): void;
  /** Notes a hook that was considered only. */
  pass(hook: string): void;
  outcome(): HookOutcome;
};

/**
 * Folds the replies of a point's hooks. The first `block` or `answer` decides. A `modify` feeds the next hook, unless it
 * is the last by its own will. An `ask` stays; together with a `modify` it is a `block`, because a person cannot be asked
 * about a value that is not carried. At `context.build` every hook adds its part, and none can keep the others from
 * adding theirs.
 */
export function mergeReplies(at: HookPoint, value: JsonObject): ReplyMerge {
  const receipts: HookReceipt[] = [];
  let current = value;
  let modified = false;
  let ended = false;
  let asked: Extract<HookAnswer, { do: "ask" }> | undefined;
  let decision: HookAnswer | undefined;

  function answer(): HookAnswer {
    if (decision && decision.do !== "skip") return decision;
    if (asked && modified)
      return {
        do: "block",
        because: `${asked.because}; another hook changed the value, which a question cannot carry`,
      };
    if (asked) return asked;
    if (modified) return { do: "modify", value: current };
    return decision ?? { do: "pass" };
  }

  return {
    get value() {
      return current;
    },
    get decided() {
      return ended;
    },
    add(hook, reply) {
      receipts.push({ hook, verdict: reply.answer.do, because: reply.because, ms: reply.ms, ran: true });
      switch (reply.answer.do) {
        case "pass":
          return;
        case "modify":
          current = reply.answer.value;
          modified = true;
          ended = reply.answer.last === true && at !== "context.build";
          return;
        case "ask":
          asked ??= reply.answer;
          return;
        default:
          if (at === "context.build") return;
          decision = reply.answer;
          ended = true;
      }
    },
    pass: (hook) => receipts.push({ hook, verdict: "pass", because: "", ms: 0, ran: false }),
    outcome: () => ({ answer: answer(), receipts }),
  };
}
