import type { Event } from "../domain/event.ts";
import type { Failure } from "../domain/failure.ts";
import { isStrangersCallId } from "../domain/session.ts";
import type { News } from "./news.ts";
import type { Delta } from "./turn/turn-context.ts";

/** What a program hears of its call: that it is in the journal, what becomes of it, and its end, last. */
export type CallNews =
  | { readonly kind: "accepted"; readonly turnId: string; readonly callId: string }
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "delta"; readonly delta: Delta }
  | { readonly kind: "fault"; readonly failure: Failure };

/** Takes out of a session's news those of one call. `leave` runs when nobody listens any more, however that comes. */
export async function* callNews(
  news: AsyncIterable<News>,
  callId: string,
  leave: () => void,
): AsyncGenerator<CallNews, void, undefined> {
  const questions = new Set<string>();
  try {
    for await (const item of news) {
      if (item.kind === "caughtUp") continue;
      if (item.kind === "delta") {
        if (item.delta.callId === callId) yield item;
        continue;
      }
      if (item.kind === "fault") {
        yield item;
        return;
      }
      const { body } = item.event;
      if (body.case === "toolCallAsked" && body.value.callId === callId) {
        yield { kind: "accepted", turnId: body.value.turnId, callId };
      } else if (isOfCall(body, callId, questions)) yield item;
      if (body.case === "toolCallEnded" && body.value.callId === callId) return;
    }
  } finally {
    leave();
  }
}

/** What strangers want meanwhile may be for this call or for another: all who wait hear of it, and one answer settles it. */
function isOfCall(body: Event["body"], callId: string, questions: Set<string>): boolean {
  switch (body.case) {
    case "approvalAsked": {
      const isAbout = body.value.callId === callId || isStrangersCallId(body.value.callId);
      if (isAbout) questions.add(body.value.approvalId);
      return isAbout;
    }
    case "approvalAnswered":
    case "approvalExpired":
      return questions.delete(body.value.approvalId);
    case "toolCallStarted":
    case "toolCallEnded":
      return body.value.callId === callId;
    default:
      return false;
  }
}
