import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { type Event, type TurnEnded, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import { type Delta, DeltaKind, SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { House } from "./house.ts";
import { failedResult, openWork, type Step, type Work } from "./work.ts";

/** How long an interrupted turn may take until it is left behind, milliseconds. */
const STOP_LIMIT_MS = 10_000;

export const SAY_TOOL: Tool = {
  name: "clawd_say",
  description:
    "Says something to clawd, an agent that works with its own tools in the workspace, and answers with its reply. Goes on with this connection's conversation unless a session is named.",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", minLength: 1, description: "What to say." },
      session: { type: "string", minLength: 1, description: "The id of a session to go on with." },
    },
    required: ["text"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      session: { type: "string", description: "The session it was said in; it is read at clawd://session/ID." },
      outcome: { type: "string", enum: ["done", "cancelled", "failed", "shown"] },
      reply: { type: "string" },
    },
    required: ["session", "outcome", "reply"],
  },
  annotations: { title: "Talk to clawd", readOnlyHint: false, openWorldHint: true },
};

export type Message = {
  readonly sessionId: string;
  readonly text: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  readonly canAnswer: boolean;
};

/** Says something in a session and waits for the turn that answers. To stop it is to interrupt that turn. */
export function say(house: House, message: Message): Work {
  const leave = new AbortController();
  const { sessionId } = message;
  return openWork(follow(house, message, leave.signal), () => {
    void house.call(SessionService.method.interrupt, { sessionId });
    // The turn's end comes over the stream; a daemon that does not stop it in time is left alone with it.
    setTimeout(() => leave.abort(), STOP_LIMIT_MS).unref();
  });
}

async function* follow(
  house: House,
  { sessionId, text, allow, yolo, canAnswer }: Message,
  signal: AbortSignal,
): AsyncGenerator<Step, CallToolResult, undefined> {
  const turn = openTurn();
  const wish = { sessionId, after: 0, follow: true, canAnswer, attended: true };
  let live = false;
  for await (const item of house.stream(SessionService.method.subscribe, wish, signal)) {
    if (!item.ok) return failedResult(item.trouble.message, item.trouble.hint);
    const { news } = item.value;
    if (news.case === "fault") return failedResult(news.value.message, news.value.hint);
    if (news.case === "delta" && live) yield* turn.delta(news.value);
    if (news.case === "event" && live) {
      yield* turn.event(news.value, sessionId);
      const ended = turn.ended();
      if (ended !== undefined) return sayResult(sessionId, ended.outcome, turn.reply(), ended);
    }
    if (news.case === "caughtUp" && !live) {
      live = true;
      const said = await house.call(SessionService.method.say, { sessionId, text, allow: [...allow], yolo });
      if (!said.ok) return failedResult(said.trouble.message, said.trouble.hint);
      if (said.value.turnId === "") return shownResult(sessionId, said.value.shown);
      turn.said(said.value.turnId);
      const ended = turn.ended();
      if (ended !== undefined) return sayResult(sessionId, ended.outcome, turn.reply(), ended);
    }
  }
  return failedResult("the daemon went away during the turn", `clawd://session/${sessionId} has what became of it`);
}

/** What is heard of the turn that answers. */
function openTurn() {
  let turnId = "";
  let reply = "";
  let whole = false;
  const ends = new Map<string, TurnEnded>();
  return {
    said(id: string): void {
      turnId = id;
    },
    ended: (): TurnEnded | undefined => ends.get(turnId),
    reply: () => reply,
    *delta({ kind, text }: Delta): Generator<Step> {
      if (kind === DeltaKind.TEXT || kind === DeltaKind.PROGRESS) yield { kind: "progress", text };
    },
    *event({ body }: Event, sessionId: string): Generator<Step> {
      switch (body.case) {
        case "blockEnded": {
          // What was said before tools ran is not the answer.
          if (whole) reply = "";
          whole = false;
          const content = body.value.content?.kind;
          if (content?.case === "text") reply += content.value.text;
          return;
        }
        case "replyEnded":
          whole = true;
          return;
        case "toolCallStarted":
          yield { kind: "progress", text: `calls ${body.value.tool}` };
          return;
        case "approvalAsked":
          yield { kind: "question", question: body.value, sessionId };
          return;
        case "approvalAnswered":
        case "approvalExpired":
          yield { kind: "settled", approvalId: body.value.approvalId };
          return;
        case "turnEnded":
          ends.set(body.value.turnId, body.value);
          return;
        default:
          return;
      }
    },
  };
}

const OUTCOMES: Readonly<Partial<Record<TurnOutcome, string>>> = {
  [TurnOutcome.DONE]: "done",
  [TurnOutcome.CANCELLED]: "cancelled",
};

function sayResult(session: string, outcome: TurnOutcome, reply: string, { failure }: TurnEnded): CallToolResult {
  const word = OUTCOMES[outcome] ?? "failed";
  const why = failure === undefined ? `The turn was ${word}.` : `The turn failed: ${failure.message}`;
  const text = outcome === TurnOutcome.DONE ? reply : `${reply}\n${why}`.trimStart();
  return {
    content: [{ type: "text", text }],
    structuredContent: { session, outcome: word, reply: text },
    ...(outcome === TurnOutcome.DONE ? {} : { isError: true }),
  };
}

/** A slash command's answer, or that a hook took the message. */
function shownResult(session: string, shown: string): CallToolResult {
  const text = shown === "" ? "A hook took the message; nothing was said." : shown;
  return { content: [{ type: "text", text }], structuredContent: { session, outcome: "shown", reply: text } };
}
