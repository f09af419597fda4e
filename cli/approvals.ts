import { type ApprovalAsked, ApprovalScope } from "../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import type { Context } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { isInterrupt, readKey } from "./key.ts";

/** Questions that a person at this terminal may decide, one after the other. */
export type Approvals = {
  asked(question: ApprovalAsked): void;
  /** Somebody decided or it lapsed: its prompt goes away. True when the answer to a shown prompt came from elsewhere. */
  settled(approvalId: string): boolean;
  /** Replayed questions that nobody settled become prompts from here on. */
  begin(): void;
  close(): void;
};

type Decision = { readonly allowed: boolean; readonly scope: ApprovalScope };

const DECISIONS: Readonly<Record<string, Decision>> = {
  y: { allowed: true, scope: ApprovalScope.ONCE },
  a: { allowed: true, scope: ApprovalScope.SESSION },
  n: { allowed: false, scope: ApprovalScope.ONCE },
};
const QUESTION = "  allow? [y] once · [a] always in this session · [n] no ";
/** For terminals that the whole question does not fit on. */
const SHORT_QUESTION = "  allow? y once, a always, n no ";

export function openApprovals(context: Context, conversation: Conversation, interrupt: () => void): Approvals {
  const { screen } = context;
  const open = new Map<string, AbortController>();
  let begun = false;
  let busy = false;
  /** The question that keys answer now. */
  let prompting = "";

  function takeAway(): void {
    prompting = "";
    screen.unask();
  }
  async function decide(approvalId: string, prompt: AbortController): Promise<void> {
    const show = (): void => {
      prompting = approvalId;
      screen.ask(screen.columns > QUESTION.length ? QUESTION : SHORT_QUESTION);
    };
    const key = await readKey(context.stdin, { wanted: Object.keys(DECISIONS), show }, prompt.signal);
    takeAway();
    if (isInterrupt(key)) return interrupt();
    const decision = DECISIONS[key ?? ""];
    if (decision === undefined) return;
    const answer = { sessionId: conversation.sessionId, approvalId, ...decision };
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
      const elsewhere = prompting === approvalId;
      if (elsewhere) takeAway();
      open.get(approvalId)?.abort();
      open.delete(approvalId);
      return elsewhere;
    },
    begin() {
      begun = true;
      void work();
    },
    close() {
      for (const prompt of open.values()) prompt.abort();
      open.clear();
      takeAway();
    },
  };
}
