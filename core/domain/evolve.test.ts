import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  ApprovalScope,
  EventSchema,
  StopReason,
  ToolCallStatus,
  TurnOutcome,
} from "../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "./event.ts";
import { evolve } from "./evolve.ts";
import { answerKey, emptySession, type Session } from "./session.ts";
import { settle } from "./settle.ts";

const turnId = "t1";
const opened: EventBody = { case: "sessionOpened", value: { sessionId: "s", workspace: "/w" } };
const started: EventBody = { case: "turnStarted", value: { turnId, model: "m/x" } };
const spoke = (text: string): EventBody => ({ case: "userSpoke", value: { messageId: "m", text } });
const said = (text: string): EventBody => ({
  case: "blockEnded",
  value: { turnId, step: 1, content: { kind: { case: "text", value: { text } } } },
});
const called = (callId: string): EventBody => ({
  case: "blockEnded",
  value: {
    turnId,
    step: 1,
    content: { kind: { case: "toolCall", value: { callId, tool: "read", args: { path: callId } } } },
  },
});
const replied: EventBody = {
  case: "replyEnded",
  value: { turnId, step: 1, stop: StopReason.CALLS, usage: { inputTokens: 2, outputTokens: 3 } },
};
const ended = (callId: string, status: ToolCallStatus = ToolCallStatus.DONE): EventBody => ({
  case: "toolCallEnded",
  value: { turnId, callId, tool: "read", status, output: `out ${callId}` },
});
const turnEnded: EventBody = { case: "turnEnded", value: { turnId, outcome: TurnOutcome.DONE } };

function fold(...bodies: readonly EventBody[]): Session {
  let session = emptySession("s");
  for (const [index, body] of bodies.entries())
    session = evolve(session, create(EventSchema, { seq: index + 1, body }));
  return session;
}

const user = (text: string) => ({ role: "user", content: [{ kind: "text", text }] });
const assistant = (text: string) => ({ role: "assistant", content: [{ kind: "text", text }] });
const result = (callId: string, isError = false) => ({ kind: "toolResult", callId, text: `out ${callId}`, isError });

test("a plain exchange becomes two messages, and the first line becomes the title", () => {
  const session = fold(opened, spoke("hello\nthere"), started, said("hi"), replied, turnEnded);
  expect(session.messages).toEqual([user("hello\nthere"), assistant("hi")]);
  expect(session).toMatchObject({ seq: 6, title: "hello", turn: undefined, lastTurn: { id: turnId, outcome: "done" } });
  expect(session.usage).toMatchObject({ inputTokens: 2, outputTokens: 3 });
});

test("results go back in the order of the calls, whatever order they came in", () => {
  const session = fold(opened, spoke("go"), started, called("a"), called("b"), replied, ended("b"), ended("a"));
  expect(session.messages.at(-1)).toEqual({ role: "user", content: [result("a"), result("b")] });
  expect(session.calls.size).toBe(0);
});

test("a result that comes before the reply is whole waits for it", () => {
  const session = fold(opened, spoke("go"), started, called("a"), ended("a", ToolCallStatus.DENIED), replied);
  expect(session.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  expect(session.messages.at(-1)).toEqual({ role: "user", content: [result("a", true)] });
});

test("what is said during a turn joins after the results, and the turn knows that it owes an answer", () => {
  const session = fold(opened, spoke("go"), started, called("a"), replied, spoke("faster"), ended("a"));
  expect(session.messages.at(-1)?.content).toEqual([result("a"), { kind: "text", text: "faster" }]);
  expect(session.steered).toBe(true);
  expect(fold(opened, spoke("go"), started, spoke("faster"), said("hm"), replied)).toMatchObject({
    steered: true,
    messages: [user("go"), assistant("hm"), user("faster")],
  });
});

test("a turn that ends in the middle leaves nothing half open", () => {
  const session = fold(opened, spoke("go"), started, said("so"), called("a"), turnEnded, spoke("next"));
  expect(session).toMatchObject({ turn: undefined, reply: [] });
  expect(session.calls.size).toBe(0);
  expect(session.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
});

test("an answer for the session is remembered, an answer for one call is not", () => {
  const asked: EventBody = { case: "approvalAsked", value: { approvalId: "q", turnId, callId: "a", tool: "shell" } };
  const answer = (scope: ApprovalScope, allowed = true): EventBody => ({
    case: "approvalAnswered",
    value: { approvalId: "q", allowed, scope },
  });
  const base = [opened, spoke("go"), started, called("a"), replied, asked];
  expect(fold(...base).approvals.get("q")?.status).toBe("open");
  expect(fold(...base, answer(ApprovalScope.SESSION)).allowedTools).toEqual(["shell"]);
  expect(fold(...base, answer(ApprovalScope.ONCE)).allowedTools).toEqual([]);
  expect(fold(...base, answer(ApprovalScope.SESSION, false))).toMatchObject({ allowedTools: [] });
  expect(fold(...base, { case: "approvalExpired", value: { approvalId: "q" } }).approvals.get("q")?.status).toBe(
    "expired",
  );
});

test("what is said about a hook is remembered about that hook, and about nobody else", () => {
  const asked = (approvalId: string, value: object): EventBody => ({
    case: "approvalAsked",
    value: { approvalId, turnId, ...value },
  });
  const yes = (approvalId: string, allowed = true): EventBody => ({
    case: "approvalAnswered",
    value: { approvalId, allowed, scope: ApprovalScope.SESSION },
  });
  const session = fold(
    ...[opened, spoke("go"), started, called("a"), replied],
    ...[asked("q1", { permission: "read=/x", principal: "hook:guard" }), yes("q1")],
    ...[asked("q2", { permission: "net=x.org", principal: "hook:guard" }), yes("q2", false)],
    ...[asked("q3", { callId: "hook:guard:1", tool: "shell" }), yes("q3")],
  );
  expect([...session.hookAnswers]).toEqual([
    [answerKey("hook:guard", "read=/x"), true],
    [answerKey("hook:guard", "net=x.org"), false],
    [answerKey("hook:guard", "calls shell"), true],
  ]);
  expect(session.allowedTools).toEqual([]);
});

test("a question from outside the turn stays open when the turn ends; its own go with it", () => {
  const asked = (approvalId: string): EventBody => ({ case: "approvalAsked", value: { approvalId, turnId: "" } });
  const answered: EventBody = { case: "approvalAnswered", value: { approvalId: "q1", allowed: true } };
  const session = fold(opened, spoke("go"), started, asked("q1"), answered, asked("q2"), turnEnded);
  expect([...session.approvals.keys()]).toEqual(["q2"]);
  expect(settle(session, () => false)).toEqual([{ case: "approvalExpired", value: { approvalId: "q2" } }]);
});

test("a hook's calls are no part of the conversation, and are closed after a crash, in a turn or not", () => {
  const call = { turnId, callId: "hook:guard:7", tool: "shell" };
  const begun: EventBody = { case: "toolCallStarted", value: call };
  const session = fold(opened, spoke("go"), started, called("a"), replied, begun, ended("a"));
  expect(session.messages.at(-1)).toEqual({ role: "user", content: [result("a")] });
  expect(session).toMatchObject({ lastHookCall: 7, calls: new Map() });
  expect(settle(session, () => true)[0]).toMatchObject({ case: "toolCallEnded", value: { callId: "hook:guard:7" } });
  const over = fold(opened, begun, { case: "toolCallEnded", value: { ...call, status: ToolCallStatus.DONE } });
  expect(settle(over, () => true)).toEqual([]);
  expect(settle(fold(opened, begun), () => true)).toMatchObject([{ value: { status: ToolCallStatus.LOST } }]);
});

test("context of another turn, of no turn, or after the reply began changes nothing", () => {
  const built = (id: string): EventBody => ({ case: "contextBuilt", value: { turnId: id, step: 0, context: "x" } });
  for (const bodies of [
    [opened, spoke("go"), built(turnId)],
    [opened, spoke("go"), started, built("other")],
    [opened, spoke("go"), started, said("hi"), replied, built(turnId)],
  ]) {
    expect(JSON.stringify(fold(...bodies).messages)).not.toContain("hooks");
  }
  expect(fold(opened, spoke("go"), started, built(turnId), built(turnId)).messages).toMatchObject([
    { role: "user", content: [{ text: "go" }, { byHooks: true }] },
  ]);
});

test("events in an order that nobody writes still fold, and no prefix throws", () => {
  const bodies = [
    ended("x"),
    replied,
    called("a"),
    turnEnded,
    spoke("hi"),
    replied,
    opened,
    ended("a"),
    started,
    turnEnded,
  ];
  for (let length = 0; length <= bodies.length; length += 1) {
    expect(fold(...bodies.slice(0, length)).seq).toBe(length);
  }
});

test("a call that a plugin makes is its own: a crash loses it, and its number is not given again", () => {
  const call = { turnId, callId: "plugin:notes:3", tool: "read" };
  const session = fold(opened, spoke("go"), started, { case: "toolCallStarted", value: { ...call, attempt: 1 } });
  expect([...session.hookCalls.keys()]).toEqual(["plugin:notes:3"]);
  expect(session.lastHookCall).toBe(3);
  const lost = { ...call, status: ToolCallStatus.LOST };
  expect(settle(session, () => false)).toContainEqual({ case: "toolCallEnded", value: expect.objectContaining(lost) });
});

test("what a plugin asks in its own words is answered once, whatever reach a client says", () => {
  const principal = "plugin:notes";
  const question = { approvalId: "q", turnId, callId: "c1", tool: "", permission: "", principal };
  const answer = { approvalId: "q", allowed: true, scope: ApprovalScope.ALWAYS };
  const session = fold(
    ...[opened, spoke("go"), started],
    { case: "approvalAsked", value: question },
    { case: "approvalAnswered", value: answer },
  );
  expect(session.approvals.get("q")?.status).toBe("allowed");
  expect([session.allowedTools, session.hookAnswers.size]).toEqual([[], 0]);
});
