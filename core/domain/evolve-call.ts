import {
  type ToolCallAsked,
  type ToolCallEnded,
  type ToolCallStarted,
  ToolCallStatus,
} from "../../proto/gen/clawd/v1/event_pb.ts";
import { showCalled } from "./evolve-prompt.ts";
import { settleResults } from "./evolve-reply.ts";
import type { ResultBlock } from "./provider.ts";
import { readHookCallId, type Session, type ToolCall } from "./session.ts";

/** Only a program's turn has calls that no reply asked for. */
export function askCall(session: Session, { turnId, callId, tool, args = {} }: ToolCallAsked): Partial<Session> {
  if (session.turn?.id !== turnId || session.turn.caller === "") return {};
  return { programCalls: new Map(session.programCalls).set(callId, { callId, tool, args, status: "asked" }) };
}

export function startCall(
  session: Session,
  { callId, turnId, tool, args = {}, attempt }: ToolCallStarted,
): Partial<Session> {
  if (session.calls.has(callId)) {
    return { calls: new Map(session.calls).set(callId, { callId, tool, args, status: "running", attempt }) };
  }
  if (session.programCalls.has(callId)) {
    return { programCalls: new Map(session.programCalls).set(callId, { callId, tool, args, status: "running" }) };
  }
  const own = readHookCallId(callId);
  if (own === undefined) return {};
  return {
    hookCalls: new Map(session.hookCalls).set(callId, { callId, tool, turnId }),
    lastHookCall: Math.max(session.lastHookCall, own.number),
  };
}

export function endCall(session: Session, ended: ToolCallEnded): Partial<Session> {
  if (session.programCalls.has(ended.callId)) {
    const programCalls = new Map(session.programCalls);
    programCalls.delete(ended.callId);
    return { programCalls };
  }
  const call = session.calls.get(ended.callId);
  if (call === undefined) return endHookCall(session, ended.callId);
  const isError = ended.status !== ToolCallStatus.DONE && ended.status !== ToolCallStatus.ANSWERED;
  const result: ResultBlock = { kind: "toolResult", callId: ended.callId, text: ended.output, isError };
  const calls = new Map<string, ToolCall>(session.calls).set(ended.callId, { ...call, status: "ended", result });
  return { calls, turn: showCalled(session.turn, ended.tool), ...settleResults({ ...session, calls }) };
}

function endHookCall(session: Session, callId: string): Partial<Session> {
  const own = readHookCallId(callId);
  if (own === undefined) return {};
  const hookCalls = new Map(session.hookCalls);
  hookCalls.delete(callId);
  return { hookCalls, lastHookCall: Math.max(session.lastHookCall, own.number) };
}
