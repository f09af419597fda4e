import type { Desk } from "../../domain/desk.ts";
import { fail } from "../../domain/failure.ts";
import { askAboutPermission, confirmWithPerson } from "./ask-person.ts";
import { findTool } from "./find-tool.ts";
import { generateWords } from "./generate-words.ts";
import { recordDecision } from "./run-hooks.ts";
import { callForStranger } from "./stranger-call.ts";
import type { TurnContext } from "./turn-context.ts";

/** Calls within calls: a stranger's tool that calls a stranger's tool, and so on. */
const DEPTH_MAX = 8;

/** What a session offers to the strangers of one moment. Once closed it is over with them: nothing of theirs goes on. */
export type DeskOffer = {
  readonly desk: Desk;
  /** Stops what was begun for them and waits until it has ended. */
  close(): Promise<void>;
};

export type OpenDesk = (turn: TurnContext, callId: string) => DeskOffer;

/** Opens what strangers may ask of their session. `turn.signal` is how long they are waited for. */
export function openDesk(turn: TurnContext, callId: string): DeskOffer {
  return deskAt(turn, callId, 1);
}

function deskAt(turn: TurnContext, callId: string, depth: number): DeskOffer {
  const over = new AbortController();
  const scoped: TurnContext = { ...turn, signal: AbortSignal.any([turn.signal, over.signal]) };
  const begun = new Set<Promise<unknown>>();

  function follow<T>(work: Promise<T>): Promise<T> {
    const ended = work.then(ignore, ignore).finally(() => begun.delete(ended));
    begun.add(ended);
    return work;
  }

  return {
    desk: {
      async record(decision) {
        if (over.signal.aborted) return tooLate("decide");
        return follow(recordDecision(turn, decision));
      },
      async ask(question) {
        if (over.signal.aborted) return { said: "nobody" };
        return follow(askAboutPermission(scoped, callId, question));
      },
      async confirm(principal, question, requestedSchema) {
        if (over.signal.aborted) return { said: "nobody" };
        return follow(confirmWithPerson(scoped, callId, { principal, question, requestedSchema }));
      },
      toolName: (word) => findTool(turn.tools(), word)?.name ?? word,
      async callTool(principal, tool, args) {
        if (over.signal.aborted) return tooLate(`call ${tool}`);
        if (depth >= DEPTH_MAX) return tooDeep(tool);
        const deeper: OpenDesk = (inner, innerId) => deskAt(inner, innerId, depth + 1);
        return follow(callForStranger(scoped, { principal, tool, args }, deeper));
      },
      async generate(wanted, signal) {
        if (over.signal.aborted) return { said: tooLate("ask a model"), tokens: 0 };
        return follow(generateWords(scoped, wanted, signal));
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
  return fail("cancelled", `it is too late to ${what}: what it was asked for is over`);
}

function tooDeep(tool: string) {
  return fail("exhausted", `${tool} did not run: ${DEPTH_MAX} calls stand inside one another`, {
    hint: "a tool that calls itself, perhaps by way of another",
  });
}
