import type { Event } from "../proto/gen/clawd/v1/event_pb.ts";
import { type SayResponse, SessionService, type SubscribeResponse } from "../proto/gen/clawd/v1/session_pb.ts";
import { openApprovals } from "./approvals.ts";
import type { Context } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { openTranscript, type Shown } from "./transcript.ts";
import { EXIT, fail, type Result, type Trouble } from "./trouble.ts";
import { openTurnState, type WatchScope } from "./turn-state.ts";

export type WatchPlan = WatchScope & {
  /** True to show what people said, too: they did not type it here. */
  readonly echoUser: boolean;
  readonly json: boolean;
  /** What to say once the news flow, so that none of the answer is missed. */
  readonly say?: () => Promise<Result<SayResponse>>;
};

/** How a watch ended. */
export type Watched = { readonly exit: number; readonly lastSeq: number };

/**
 * Shows a session's news until the plan's end. Ctrl-C stops the running turn, a second one leaves at once.
 * What went wrong is reported before this returns.
 */
export async function watchSession(context: Context, conversation: Conversation, plan: WatchPlan): Promise<Watched> {
  const { screen } = context;
  const end = new AbortController();
  const printEvent = plan.json ? (await import("./proto-json.ts")).openEventPrinter(screen) : undefined;
  const transcript = openTranscript(screen.paintNote, { echoUser: plan.echoUser });
  const state = openTurnState(plan, (exit) => end.abort(exit));
  const canAnswer = context.attended;
  const approvals = canAnswer ? openApprovals(context, conversation, interrupt) : undefined;
  let trouble: Trouble | undefined;

  function interrupt(): void {
    if (!state.interrupted()) return;
    screen.spin("stopping; Ctrl-C again leaves at once");
    void conversation.call(SessionService.method.interrupt, { sessionId: conversation.sessionId }).then((told) => {
      // A turn that has just ended by itself needs no stop.
      if (!told.ok && told.trouble.kind !== "refused") screen.note(`cannot stop the turn: ${told.trouble.message}`);
    });
  }
  async function speak(say: () => Promise<Result<SayResponse>>): Promise<void> {
    const answer = await say();
    if (!answer.ok) {
      trouble = answer.trouble;
      end.abort(EXIT.failed);
      return;
    }
    warnOfStaleVariables(context, answer.value.staleVariables);
    const { shown } = answer.value;
    if (shown !== "") {
      if (plan.json) (await import("./proto-json.ts")).printJson(screen, { shown });
      else screen.data(shown.endsWith("\n") ? shown : `${shown}\n`);
      end.abort(EXIT.done);
      return;
    }
    if (answer.value.turnId === "") {
      screen.note(screen.paintNote("cyan", "◆ a hook took the message; nothing was said"));
      end.abort(EXIT.done);
      return;
    }
    state.said(answer.value.turnId);
  }
  function hearEvent(event: Event): void {
    const { body } = event;
    const isSettled = body.case === "approvalAnswered" || body.case === "approvalExpired";
    const elsewhere = isSettled && approvals?.settled(body.value.approvalId) === true;
    if (!state.event(event)) return;
    const shown = transcript.event(event, elsewhere);
    if (printEvent === undefined) put(context, shown);
    else printEvent(event);
    // After the line that shows the question.
    if (body.case === "approvalAsked") approvals?.asked(body.value);
  }
  function hear({ news }: SubscribeResponse): void {
    switch (news.case) {
      case "event":
        hearEvent(news.value);
        return;
      case "delta":
        if (state.showsDeltas() && !plan.json) put(context, transcript.delta(news.value));
        return;
      case "caughtUp":
        approvals?.begin();
        // A redialled stream catches up once more; the message is said once.
        if (state.caughtUp() && plan.say !== undefined) void speak(plan.say);
        return;
      case "fault":
        trouble = fail("failed", news.value.message, news.value.hint).trouble;
        end.abort(EXIT.failed);
        return;
      default:
        return; // A newer daemon's news.
    }
  }

  const stopHearing = context.onInterrupt(interrupt);
  try {
    const wish = { after: plan.after, follow: true, canAnswer, attended: true };
    for await (const item of conversation.news(wish, end.signal, () => state.expectsNews())) {
      if (item.ok) hear(item.value);
      else trouble = item.trouble;
      if (end.signal.aborted) break;
    }
  } finally {
    stopHearing();
    approvals?.close();
    screen.rest();
  }
  if (trouble !== undefined) return { exit: context.report(trouble), lastSeq: state.lastSeq() };
  if (!end.signal.aborted) {
    const hint = `claw attach ${conversation.sessionId} shows how the turn ended`;
    const exit = context.report(fail("failed", "the daemon was told to go down", hint).trouble);
    return { exit, lastSeq: state.lastSeq() };
  }
  return { exit: end.signal.reason as number, lastSeq: state.lastSeq() };
}

function put(context: Context, shown: Shown): void {
  if (shown.text !== "") context.screen.data(shown.text);
  for (const line of shown.notes) context.screen.note(line);
  if (shown.spin !== undefined) context.screen.spin(shown.spin);
}

function warnOfStaleVariables(context: Context, names: readonly string[]): void {
  if (names.length === 0) return;
  const { screen } = context;
  const what = `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not what the daemon was started with`;
  screen.note(screen.paintNote("yellow", `! ${what}; to use the new value: claw down && claw up`));
}
