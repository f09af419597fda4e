import type { JsonObject } from "@bufbuild/protobuf";
import { type ApprovalAsked, ApprovalScope } from "../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import type { Context } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { isInterrupt, readKey } from "./key.ts";
import { isOwnWords } from "./permission-text.ts";

/** Questions that a person at this terminal may decide, one after the other. */
export type Approvals = {
  asked(question: ApprovalAsked): void;
  /** Somebody decided or it lapsed: its prompt goes away. True when the answer to a shown prompt came from elsewhere. */
  settled(approvalId: string): boolean;
  /** Replayed questions that nobody settled become prompts from here on. */
  begin(): void;
  close(): void;
};

/** A question that waits for this terminal. */
type Open = {
  readonly prompt: AbortController;
  readonly choice: Choice;
  /** What is to be filled in beside the yes. */
  readonly form: JsonObject | undefined;
};

type Decision = { readonly allowed: boolean; readonly scope: ApprovalScope };

type Answer = Decision & { readonly sessionId: string; readonly approvalId: string };

/** What can be pressed, and the line that says so. */
type Choice = {
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly question: string;
  /** For terminals that the whole question does not fit on. */
  readonly shortQuestion: string;
};

const NO: Decision = { allowed: false, scope: ApprovalScope.ONCE };
const OF_CALL: Choice = {
  decisions: {
    y: { allowed: true, scope: ApprovalScope.ONCE },
    a: { allowed: true, scope: ApprovalScope.SESSION },
    n: NO,
  },
  question: "  allow? [y] once · [a] always in this session · [n] no ",
  shortQuestion: "  allow? y once, a always, n no ",
};
const OF_PERMISSION: Choice = {
  decisions: {
    y: { allowed: true, scope: ApprovalScope.ONCE },
    s: { allowed: true, scope: ApprovalScope.SESSION },
    a: { allowed: true, scope: ApprovalScope.ALWAYS },
    n: NO,
  },
  question: "  allow? [y] once · [s] in this session · [a] always, also in others · [n] no ",
  shortQuestion: "  allow? y once, s session, a always, n no ",
};

/** What a plugin asks in its own words: a yes is for this time. */
const OF_OWN_WORDS: Choice = {
  decisions: { y: { allowed: true, scope: ApprovalScope.ONCE }, n: NO },
  question: "  answer? [y] yes · [n] no ",
  shortQuestion: "  answer? y yes, n no ",
};

function choiceFor(question: ApprovalAsked): Choice {
  if (isOwnWords(question)) return OF_OWN_WORDS;
  return question.permission === "" ? OF_CALL : OF_PERMISSION;
}

export function openApprovals(context: Context, conversation: Conversation, interrupt: () => void): Approvals {
  const { screen } = context;
  const open = new Map<string, Open>();
  let begun = false;
  let busy = false;
  /** The question that keys answer now. */
  let prompting = "";

  function takeAway(): void {
    prompting = "";
    screen.unask();
  }
  async function decide(approvalId: string, { prompt, choice, form }: Open): Promise<void> {
    const { decisions, question, shortQuestion } = choice;
    const show = (): void => {
      prompting = approvalId;
      screen.ask(screen.columns > question.length ? question : shortQuestion);
    };
    const key = await readKey(context.stdin, { wanted: Object.keys(decisions), show }, prompt.signal);
    takeAway();
    if (isInterrupt(key)) return interrupt();
    const decision = decisions[key ?? ""];
    if (decision === undefined) return;
    const answer = { sessionId: conversation.sessionId, approvalId, ...decision };
    if (form !== undefined && decision.allowed) return answerForm(answer, form, prompt.signal);
    const told = await conversation.call(SessionService.method.answer, answer);
    // Somebody else was faster: the event that says so settles the question.
    if (!told.ok && !prompt.signal.aborted) screen.note(`  ${told.trouble.message}`);
  }

  /** Again and again until what was filled in fits, or somebody else was faster. */
  async function answerForm(answer: Answer, form: JsonObject, signal: AbortSignal): Promise<void> {
    const { fillIn } = await import("./answer-form.ts");
    const terminal = { stdin: context.stdin, output: process.stderr, note: screen.note };
    while (!signal.aborted) {
      const content = await fillIn(form, terminal, signal);
      if (content === "interrupted") return interrupt();
      if (content === undefined) return;
      const told = await conversation.call(SessionService.method.answer, { ...answer, content });
      if (told.ok || signal.aborted) return;
      screen.note(`  ${told.trouble.message}`);
      if (told.trouble.kind !== "refused") return;
    }
  }

  /** One prompt at a time; the map keeps the order in which the questions came. */
  async function work(): Promise<void> {
    if (busy || !begun) return;
    busy = true;
    for (const [approvalId, one] of open) {
      await decide(approvalId, one);
      open.delete(approvalId);
    }
    busy = false;
  }

  return {
    asked(question) {
      const { approvalId, requestedSchema: form } = question;
      open.set(approvalId, { prompt: new AbortController(), choice: choiceFor(question), form });
      void work();
    },
    settled(approvalId) {
      const elsewhere = prompting === approvalId;
      if (elsewhere) takeAway();
      open.get(approvalId)?.prompt.abort();
      open.delete(approvalId);
      return elsewhere;
    },
    begin() {
      begun = true;
      void work();
    },
    close() {
      for (const { prompt } of open.values()) prompt.abort();
      open.clear();
      takeAway();
    },
  };
}
