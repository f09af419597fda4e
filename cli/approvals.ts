import { type ApprovalAsked, ApprovalScope } from "../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import type { Context } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { readKey } from "./key.ts";

/** Questions that a person at this terminal may decide, one after the other. */
export type Approvals = {
  asked(question: ApprovalAsked): void;
  /** Somebody decided, here or elsewhere, or it lapsed: its prompt goes away. */
  settled(approvalId: string): void;
  /** Replayed questions that nobody settled become prompts from here on. */
  begin(): void;
  close(): void;
};

type Decision = { readonly allowed: boolean; readonly scope: ApprovalScope; readonly word: string };

const DECISIONS: Readonly<Record<string, Decision>> = {
  y: { allowed: true, scope: ApprovalScope.ONCE, word: "once" },
  a: { allowed: true, scope: ApprovalScope.SESSION, word: "always in this session" },
  n: { allowed: false, scope: ApprovalScope.ONCE, word: "no" },
};

export function openApprovals(context: Context, conversation: Conversation, interrupt: () => void): Approvals {
  const { screen } = context;
  const open = new Map<string, AbortController>();
  let begun = false;
  let busy = false;

  async function decide(approvalId: string, prompt: AbortController): Promise<void> {
    screen.note(screen.paintNote("bold", "  allow? [y] once · [a] always in this session · [n] no"));
    const key = await readKey(context.stdin, [...Object.keys(DECISIONS), "\u0003"], prompt.signal);
    if (key === undefined) return;
    if (key === "\u0003") {
      interrupt();
      return;
    }
    const decision = DECISIONS[key];
    if (decision === undefined) return;
    const { allowed, scope } = decision;
    const answer = { sessionId: conversation.sessionId, approvalId, allowed, scope };
    const told = await conversation.call(SessionService.method.answer, answer);
    // Somebody else was faster: the event that says so settles the question.
    if (!told.ok && !prompt.signal.aborted) screen.note(`  ${told.trouble.message}`);
  }

  /** One prompt at a time; the map keeps the order in which the questions came. */
  async function work(): Promise<void> {
    if (busy || !begun) return;
    busy = true;
    for (const [approvalId, prompt] of open) {
      await decide(approvalId, prompt);
      open.delete(approvalId);
    }
    busy = false;
  }

  return {
    asked(question) {
      open.set(question.approvalId, new AbortController());
      void work();
    },
    settled(approvalId) {
      open.get(approvalId)?.abort();
      open.delete(approvalId);
    },
    begin() {
      begun = true;
      void work();
    },
    close() {
      for (const prompt of open.values()) prompt.abort();
      open.clear();
    },
  };
}
