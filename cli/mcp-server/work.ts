import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ApprovalAsked } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { ModelWish } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { LentAnswer } from "./lend-model.ts";

/** What is heard of something under way. */
export type Step =
  | { readonly kind: "progress"; readonly text: string }
  | { readonly kind: "question"; readonly question: ApprovalAsked; readonly sessionId: string }
  | { readonly kind: "settled"; readonly approvalId: string };

/** A question that this client has not been asked yet. `over` aborts when it was settled elsewhere. */
export type OpenQuestion = {
  readonly question: ApprovalAsked;
  readonly sessionId: string;
  readonly over: AbortSignal;
};

/** What the client's model is to answer. `over` aborts when nobody waits for that any more. */
export type OpenWish = {
  readonly wish: ModelWish;
  readonly answer: (said: LentAnswer) => void;
  readonly over: AbortSignal;
};

/** What a client is asked for. */
export type Asked =
  | { readonly kind: "question"; readonly asked: OpenQuestion }
  | { readonly kind: "wish"; readonly asked: OpenWish };

/** What comes next of something under way. */
export type Next = Asked | { readonly kind: "result"; readonly result: CallToolResult };

/** A call or a turn under way: it goes on between the questions to its client, which may come in requests of their own. */
export type Work = {
  /** The next question or wish, or the result. */
  next(): Promise<Next>;
  /** Puts a wish for the client's model among the questions. */
  wish(wanted: OpenWish): void;
  /** Hears of progress from here on, in the place of whoever did before. */
  onProgress(hear: (text: string) => void): void;
  /** Gives it up; the result says so soon. */
  stop(): void;
};

/**
 * @param steps ends with the result
 * @param stop makes `steps` end soon
 */
export function openWork(steps: AsyncGenerator<Step, CallToolResult, undefined>, stop: () => void): Work {
  const wishes: OpenWish[] = [];
  const open = new Map<string, { readonly asked: OpenQuestion; readonly over: AbortController; told: boolean }>();
  let hearProgress = (_text: string): void => {};
  let wake = (): void => {};
  let result: CallToolResult | undefined;

  async function follow(): Promise<void> {
    for (;;) {
      const item = await steps.next();
      if (item.done === true) {
        result = item.value;
        for (const { over } of open.values()) over.abort();
        return wake();
      }
      hear(item.value);
    }
  }
  function hear(step: Step): void {
    if (step.kind === "progress") {
      hearProgress(step.text);
      return;
    }
    if (step.kind === "settled") {
      open.get(step.approvalId)?.over.abort();
      open.delete(step.approvalId);
      return;
    }
    const { question, sessionId } = step;
    const over = new AbortController();
    open.set(question.approvalId, { asked: { question, sessionId, over: over.signal }, over, told: false });
    wake();
  }
  follow().catch((cause: unknown) => {
    const text = `this server broke: ${cause instanceof Error ? cause.message : String(cause)}`;
    result = { content: [{ type: "text", text }], isError: true };
    wake();
  });

  return {
    async next() {
      for (;;) {
        if (result !== undefined) return { kind: "result", result };
        const fresh = [...open.values()].find(({ told }) => !told);
        if (fresh !== undefined) {
          fresh.told = true;
          return { kind: "question", asked: fresh.asked };
        }
        const wish = wishes.shift();
        if (wish?.over.aborted === true) continue;
        if (wish !== undefined) return { kind: "wish", asked: wish };
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    wish(wanted) {
      wishes.push(wanted);
      wake();
    },
    onProgress(hear) {
      hearProgress = hear;
    },
    stop,
  };
}

/** What an MCP client reads when something could not be done at all. */
export function failedResult(message: string, hint: string | undefined): CallToolResult {
  const text = hint === undefined ? message : `${message} (${hint})`;
  return { content: [{ type: "text", text }], isError: true };
}
