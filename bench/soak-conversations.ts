import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Event, ToolCallStatus, TurnOutcome } from "../proto/gen/clawd/v1/event_pb.ts";
import type { Clients } from "./soak-daemon.ts";

/** A conversation ends after so many turns, and another begins in its lane. */
const TURNS_PER_SESSION = 20;
/** From the begin of a turn to the begin of the next in the same lane, milliseconds, when it is quick enough. */
const TURN_EVERY_MS = 4_000;
const TURN_LIMIT_MS = 60_000;

export type Ended = {
  readonly ms: number;
  readonly calls: readonly { readonly isDone: boolean; readonly output: string }[];
  /** Why the turn itself failed; undefined when it was brought to its end. */
  readonly problem: string | undefined;
};

type Conversation = { say(text: string): Promise<Ended>; close(): Promise<void> };

/** A session that is followed as `claw` follows it. */
async function openConversation({ sessions }: Clients, workspace: string): Promise<Conversation> {
  const { sessionId } = await sessions.openSession({ workspace });
  const leave = new AbortController();
  const stream = sessions.subscribe({ sessionId, follow: true, attended: true }, { signal: leave.signal });
  let turn = beginTurn();
  const hear = async () => {
    for await (const { news } of stream) {
      if (news.case === "fault") turn.end(`the session cannot go on: ${news.value.message}`);
      if (news.case === "event") turn.hear(news.value.body);
    }
  };
  const heard = hear().catch((cause: unknown) => {
    if (ConnectError.from(cause).code !== Code.Canceled) turn.end(`its news broke off: ${String(cause)}`);
  });
  return {
    say: async (text) => {
      turn = beginTurn();
      const late = setTimeout(() => turn.end(`it did not end within ${TURN_LIMIT_MS} ms`), TURN_LIMIT_MS);
      await sessions.say({ sessionId, text, yolo: true }, { timeoutMs: TURN_LIMIT_MS }).catch((cause: unknown) => {
        turn.end(`it was not heard: ${String(cause)}`);
      });
      const ended = await turn.ended;
      clearTimeout(late);
      return ended;
    },
    close: async () => {
      leave.abort();
      await heard;
      await sessions.deleteSession({ sessionId }).catch(() => {});
    },
  };
}

type Body = Event["body"];

function beginTurn() {
  const startedMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const calls: { readonly isDone: boolean; readonly output: string }[] = [];
  const end = (problem: string | undefined) => resolve({ ms: performance.now() - startedMs, calls, problem });
  const hear = (body: Body) => {
    if (body.case === "toolCallEnded") {
      calls.push({ isDone: body.value.status === ToolCallStatus.DONE, output: body.value.output });
    } else if (body.case === "turnEnded") {
      end(body.value.outcome === TurnOutcome.DONE ? undefined : `its turn failed: ${body.value.failure?.message}`);
    }
  };
  return { ended: promise, end, hear };
}

/** What the conversations of one run came to. */
export type Talk = {
  /** Turns of the conversations that use no plugin, milliseconds each. */
  readonly plainMs: number[];
  /** Of those that use one. */
  readonly pluginMs: number[];
  /** Turns without a plugin that failed, or did not say what they should. */
  readonly plainFailures: string[];
  /** Turns with a plugin that did not come to their end. */
  readonly brokenTurns: string[];
  /** Calls of a plugin that failed: they may, when it was killed under them. */
  failedCalls: number;
  /** The first of them, in words. */
  firstFailedCall: string;
  /** When the daemon was made to sweep its garbage: the turns that waited for it are not timed. */
  sweep: { readonly beganMs: number; readonly endMs: number };
};

export type Lane = {
  readonly text: string;
  /** Undefined for a lane that uses no plugin. */
  readonly tool: string | undefined;
  readonly answer: string;
};

/** Says the same again and again, in one conversation behind the other, at a steady pace, until `isOver`. */
export async function runLane(
  daemon: Clients,
  workspace: string,
  { lane, offsetMs, isOver }: { readonly lane: Lane; readonly offsetMs: number; readonly isOver: () => boolean },
  talk: Talk,
): Promise<void> {
  await pause(offsetMs);
  while (!isOver()) {
    const conversation = await openConversation(daemon, workspace).catch((cause: unknown) => String(cause));
    if (typeof conversation === "string") {
      (lane.tool === undefined ? talk.plainFailures : talk.brokenTurns).push(`it could not begin: ${conversation}`);
      await pause(TURN_EVERY_MS);
      continue;
    }
    for (let turns = 0; turns < TURNS_PER_SESSION && !isOver(); turns += 1) {
      const ended = await conversation.say(lane.text);
      note(lane, ended, talk);
      // What comes late belongs to no other turn.
      if (ended.problem !== undefined) break;
      await pause(Math.max(0, TURN_EVERY_MS - ended.ms));
    }
    await conversation.close();
  }
}

function note({ tool, answer }: Lane, { ms, calls, problem }: Ended, talk: Talk): void {
  const [call] = calls;
  const endedMs = performance.now();
  const isTimed = endedMs < talk.sweep.beganMs || endedMs - ms > talk.sweep.endMs;
  const isAnswered = call?.isDone === true && call.output.includes(answer);
  if (tool === undefined) {
    if (isTimed) talk.plainMs.push(ms);
    if (problem !== undefined || !isAnswered) talk.plainFailures.push(problem ?? `it read ${call?.output}`);
    return;
  }
  if (isTimed) talk.pluginMs.push(ms);
  if (problem !== undefined) talk.brokenTurns.push(problem);
  if (isAnswered) return;
  talk.failedCalls += 1;
  if (talk.firstFailedCall === "") talk.firstFailedCall = call?.output ?? "nothing was called";
}

/** One turn in a conversation of its own. */
export async function sayOnce(daemon: Clients, workspace: string, text: string): Promise<Ended> {
  const conversation = await openConversation(daemon, workspace);
  const ended = await conversation.say(text);
  await conversation.close();
  return ended;
}
