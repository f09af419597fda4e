import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { Command } from "./command.ts";
import { decide, MESSAGE_LIMIT_CHARS } from "./decide.ts";
import type { EventBody } from "./event.ts";
import { evolve } from "./evolve.ts";
import { emptySession, type Session } from "./session.ts";
import { RESUME_LIMIT, settle } from "./settle.ts";

function fold(session: Session, bodies: readonly EventBody[]): Session {
  return bodies.reduce((state, body) => evolve(state, create(EventSchema, { seq: state.seq + 1, body })), session);
}

const say = (more: Partial<Extract<Command, { kind: "say" }>> = {}): Command => ({
  kind: "say",
  messageId: "m1",
  turnId: "t1",
  text: "hello",
  model: "rehearsal/x",
  allow: [],
  yolo: false,
  attended: true,
  ...more,
});

const fresh = fold(emptySession("s"), [{ case: "sessionOpened", value: { sessionId: "s", workspace: "/w" } }]);

function accepted(session: Session, command: Command): Session {
  const decided = decide(session, command);
  if (!decided.ok) throw new Error(decided.failure.message);
  return fold(session, decided.value);
}

function refused(session: Session, command: Command): string {
  const decided = decide(session, command);
  return decided.ok ? "accepted" : decided.failure.code;
}

test("a message starts a turn, and during a turn it steers", () => {
  const running = accepted(fresh, say());
  expect(running.turn).toMatchObject({ id: "t1", model: "rehearsal/x", attended: true });
  const steered = accepted(running, say({ turnId: "t2", text: "and this" }));
  expect(steered.turn?.id).toBe("t1");
  expect(steered.steering).toEqual(["and this"]);
});

test("what cannot be meant is refused with the reason", () => {
  expect(refused(emptySession("s"), say())).toBe("not_found");
  expect(refused(fresh, say({ text: " \n" }))).toBe("invalid");
  expect(refused(fresh, say({ text: "x".repeat(MESSAGE_LIMIT_CHARS + 1) }))).toBe("invalid");
  expect(refused(fresh, say({ allow: ["rm -rf"] }))).toBe("invalid");
  expect(refused(fresh, { kind: "interrupt" })).toBe("conflict");
  expect(refused(fresh, { kind: "answer", approvalId: "q", allowed: true, scope: "once" })).toBe("conflict");
  expect(refused(fresh, { kind: "open", sessionId: "s", workspace: "/w", model: "" })).toBe("conflict");
});

test("a running turn cannot be allowed more than it was at its start", () => {
  const running = accepted(fresh, say());
  expect(refused(running, say({ yolo: true }))).toBe("conflict");
  expect(refused(running, say({ allow: ["shell"] }))).toBe("conflict");
});

test("an answered question cannot be answered again", () => {
  const asked: EventBody = {
    case: "approvalAsked",
    value: { approvalId: "q", turnId: "t1", callId: "c", tool: "shell" },
  };
  const waiting = fold(accepted(fresh, say()), [asked]);
  const answered = accepted(waiting, { kind: "answer", approvalId: "q", allowed: false, scope: "once" });
  expect(refused(answered, { kind: "answer", approvalId: "q", allowed: true, scope: "once" })).toBe("conflict");
});

const called = (callId: string, tool: string): EventBody => ({
  case: "blockEnded",
  value: { turnId: "t1", step: 1, content: { kind: { case: "toolCall", value: { callId, tool } } } },
});
const started = (callId: string, tool: string): EventBody => ({
  case: "toolCallStarted",
  value: { turnId: "t1", callId, tool, attempt: 1 },
});
const crashed = fold(accepted(fresh, say()), [
  called("a", "read"),
  called("b", "shell"),
  called("c", "shell"),
  { case: "replyEnded", value: { turnId: "t1", step: 1 } },
  started("a", "read"),
  started("b", "shell"),
]);
const cases = (bodies: readonly EventBody[]) => bodies.map((body) => body.case);

test("after a crash a running call is lost, one that never started is cancelled, and a safe one is left to run again", () => {
  const bodies = settle(crashed, (tool) => tool === "read");
  expect(cases(bodies)).toEqual(["toolCallEnded", "toolCallEnded", "turnResumed"]);
  const settled = fold(crashed, bodies);
  expect([...settled.calls.values()].map(({ callId, status }) => [callId, status])).toEqual([
    ["a", "running"],
    ["b", "ended"],
    ["c", "ended"],
  ]);
  expect(settled.turn?.resumed).toBe(1);
});

test("a turn that a person stopped, or that stopped the daemon too often, is not taken up again", () => {
  const stopped = accepted(crashed, { kind: "interrupt" });
  expect(
    fold(
      stopped,
      settle(stopped, () => true),
    ),
  ).toMatchObject({ turn: undefined, lastTurn: { outcome: "cancelled" } });
  const often = fold(crashed, [{ case: "turnResumed", value: { turnId: "t1", attempt: RESUME_LIMIT } }]);
  expect(
    fold(
      often,
      settle(often, () => true),
    ),
  ).toMatchObject({
    turn: undefined,
    lastTurn: { outcome: "failed", failure: { code: "lost" } },
  });
});

test("a session without an open turn has nothing to settle", () => {
  expect(settle(fresh, () => true)).toEqual([]);
});

test("a reply that a stop cut off is closed before its turn goes on", () => {
  const half = fold(accepted(fresh, say()), [
    {
      case: "blockEnded",
      value: { turnId: "t1", step: 1, content: { kind: { case: "text", value: { text: "well" } } } },
    },
  ]);
  const settled = fold(
    half,
    settle(half, () => true),
  );
  expect(settled.reply).toEqual([]);
  expect(settled.messages.at(-1)).toEqual({ role: "assistant", content: [{ kind: "text", text: "well" }] });
});
