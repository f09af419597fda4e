import { fail } from "../domain/failure.ts";
import type { HookContext } from "../domain/hook.ts";
import { askAboutPermission } from "./ask-person.ts";
import { callForHook } from "./hook-call.ts";
import { recordDecision } from "./run-hooks.ts";
import type { TurnContext } from "./turn-context.ts";

/** What a session offers to the hooks of one moment. Once closed it is over with them: nothing of theirs goes on. */
export type HookOffer = {
  readonly context: HookContext;
  /** Stops what was begun for them and waits until it has ended. */
  close(): Promise<void>;
};

/** Opens what the hooks of one moment may ask of their session. `turn.signal` is how long they are waited for. */
export function openHookContext(turn: TurnContext, callId: string): HookOffer {
  const over = new AbortController();
  const scoped: TurnContext = { ...turn, signal: AbortSignal.any([turn.signal, over.signal]) };
  const begun = new Set<Promise<unknown>>();

  function follow<T>(work: Promise<T>): Promise<T> {
    const ended = work.then(ignore, ignore).finally(() => begun.delete(ended));
    begun.add(ended);
    return work;
  }

  return {
    context: {
      signal: turn.signal,
      async record(decision) {
        if (over.signal.aborted) return tooLate("decide");
        return follow(recordDecision(turn, decision));
      },
      async ask(question) {
        if (over.signal.aborted) return { said: "nobody" };
        return follow(askAboutPermission(scoped, callId, question));
      },
      async callTool(principal, tool, args) {
        if (over.signal.aborted) return tooLate(`call ${tool}`);
        return follow(callForHook(scoped, { principal, tool, args }));
      },
    },
    async close() {
      over.abort();
      await Promise.all(begun);
    },
  };
}

function ignore(): void {}

function tooLate(what: string) {
  return fail("cancelled", `it is too late to ${what}: the event that the hook was told of is over`);
}
