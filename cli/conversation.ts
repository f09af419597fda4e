import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  SessionService,
  type SubscribeRequestSchema,
  type SubscribeResponse,
} from "../proto/gen/clawd/v1/session_pb.ts";
import type { Context } from "./command.ts";
import type { Connection } from "./connection.ts";
import type { Result } from "./trouble.ts";

/** How often in a row a lost daemon is dialled again while no new event came. */
const REDIAL_LIMIT = 3;

/** A session as a client sees it. Outlives the daemon: a killed one is started again and nothing told is lost. */
export type Conversation = {
  readonly sessionId: string;
  /** Calls over the connection that is up now. */
  readonly call: Connection["call"];
  /**
   * News after `after`, without a gap, across restarts of the daemon as long as `wanted` says that more have to come: a
   * daemon that was told to go down first closes its turns. A failure is the last item.
   */
  news(
    wish: MessageInitShape<typeof SubscribeRequestSchema>,
    signal: AbortSignal,
    wanted: () => boolean,
  ): AsyncGenerator<Result<SubscribeResponse>>;
  /** Hangs up what `news` dialled; the first connection stays with its owner. */
  close(): void;
};

export function openConversation(context: Context, first: Connection, sessionId: string): Conversation {
  let current = first;
  function hangUp(): void {
    if (current !== first) current.close();
  }
  return {
    sessionId,
    call: (method, input, more) => current.call(method, input, more),
    async *news(wish, signal, wanted) {
      let after = wish.after ?? 0;
      let redials = 0;
      let heard = false;
      while (true) {
        let broken: Result<SubscribeResponse> | undefined;
        for await (const item of current.stream(
          SessionService.method.subscribe,
          { ...wish, sessionId, after },
          signal,
        )) {
          if (!item.ok && item.trouble.kind === "unreachable") {
            broken = item;
            break;
          }
          if (item.ok && item.value.news.case === "event") {
            after = item.value.news.value.seq;
            redials = 0;
          }
          heard = true;
          yield item;
          if (!item.ok) return;
        }
        if (broken === undefined || signal.aborted) return;
        // A connection that never said a word may have met a daemon that was just being killed.
        if ((heard && !wanted()) || ++redials > REDIAL_LIMIT) {
          yield broken;
          return;
        }
        context.screen.note(context.screen.paintNote("yellow", "↻ the daemon went away; connecting again"));
        const dialled = await context.dial();
        if (!dialled.ok) {
          yield dialled;
          return;
        }
        hangUp();
        current = dialled.value;
      }
    },
    close: hangUp,
  };
}
