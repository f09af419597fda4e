import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../domain/failure.ts";
import { type Awake, commandSession } from "./awake-session.ts";
import { type CallNews, callNews } from "./call-news.ts";
import type { LentModels } from "./lent-models.ts";
import type { Listener, News } from "./news.ts";
import type { Caller } from "./turn/program-turn.ts";
import type { TurnServices } from "./turn/turn-context.ts";

/** A call that a program makes. */
export type CallOptions = {
  readonly tool: string;
  readonly args: JsonObject;
  /** Who calls, in its own words. */
  readonly caller: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** A person there can answer questions. */
  readonly canAnswer: boolean;
  /** Whose model the call may ask; empty for the house's own. */
  readonly lenderId: string;
};

/** The calls of programs that somebody waits for. */
export type ProgramCalls = {
  call(
    session: Awake,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<CallNews, void, undefined>>>;
  /** The program that made a call. */
  callerOf(callId: string): Caller;
};

export type ProgramCallParts = {
  readonly newId: TurnServices["newId"];
  readonly listen: (session: Awake, listener: Listener, signal: AbortSignal) => AsyncGenerator<News, void, undefined>;
  /** Works on the turn that a call is. */
  readonly start: (session: Awake) => void;
  /** Aborts when nothing may be called any more. */
  readonly stopping: AbortSignal;
  readonly lent: Pick<LentModels, "take">;
};

export function programCalls({ newId, listen, start, stopping, lent }: ProgramCallParts): ProgramCalls {
  const waited = new Map<string, Caller>();
  return {
    async call(session, { canAnswer, lenderId, ...options }, signal) {
      if (stopping.aborted) {
        return fail("unavailable", "the daemon is ending", { hint: "call again: the next one starts by itself" });
      }
      const lentModel = lent.take(lenderId);
      if (lenderId !== "" && lentModel === undefined) {
        return fail("not_found", "the model that the call may ask is lent no more, or to another call", {
          hint: "lend it for each call",
        });
      }
      const callId = newId("call");
      const stop = new AbortController();
      waited.set(callId, { hungUp: stop.signal, lentModel });
      const hangUp = () => {
        waited.delete(callId);
        stop.abort();
      };
      const called = await commandSession(session, { kind: "call", callId, turnId: newId("turn"), ...options });
      if (!called.ok) {
        hangUp();
        return called;
      }
      const after = (called.value[0]?.seq ?? 1) - 1;
      // Before the turn looks whether anybody is there to be asked.
      const news = listen(session, { after, follow: true, canAnswer, callId, attended: true }, signal);
      start(session);
      return ok(callNews(news, callId, hangUp));
    },
    callerOf: (callId) => waited.get(callId) ?? { hungUp: AbortSignal.abort(), lentModel: undefined },
  };
}
