import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventSchema, HookVerdict, ToolCallStatus, TurnOutcome } from "../proto/gen/clawd/v1/event_pb.ts";
import { DeltaKind, DeltaSchema } from "../proto/gen/clawd/v1/session_pb.ts";
import { openTranscript } from "./transcript.ts";

type Body = NonNullable<MessageInitShape<typeof EventSchema>["body"]>;

function lay(...bodies: readonly Body[]): { text: string; notes: string[] } {
  const transcript = openTranscript((_style, text) => text, { echoUser: true });
  const shown = bodies.map((body, at) => transcript.event(create(EventSchema, { seq: at + 1, body })));
  return { text: shown.map((one) => one.text).join(""), notes: shown.flatMap((one) => one.notes) };
}

test("a call is one line with what it was called with, how it ended and how long it took", () => {
  const { notes } = lay(
    { case: "toolCallStarted", value: { callId: "c", tool: "read", args: { path: "notes.md" } } },
    { case: "toolCallEnded", value: { callId: "c", tool: "read", status: ToolCallStatus.DONE, ms: 3.21 } },
  );
  expect(notes).toEqual(["✓ read notes.md 3.2 ms"]);
});

test("a call that never started shows what the model asked for", () => {
  const wanted = { callId: "c", tool: "shell", args: { command: "rm x" } };
  const { notes } = lay(
    { case: "blockEnded", value: { turnId: "t", step: 1, content: { kind: { case: "toolCall", value: wanted } } } },
    { case: "toolCallEnded", value: { callId: "c", tool: "shell", status: ToolCallStatus.DENIED } },
  );
  expect(notes).toEqual(["⊘ shell rm x denied"]);
});

test("words that overtake the end of a call wait for the event that brings them", () => {
  const transcript = openTranscript((_style, text) => text, { echoUser: true });
  const hear = (body: Body) => transcript.event(create(EventSchema, { body }));
  hear({ case: "toolCallStarted", value: { callId: "c", tool: "read" } });
  const early = create(DeltaSchema, { turnId: "t", step: 2, kind: DeltaKind.TEXT, text: "I " });
  expect(transcript.delta(early).text).toBe("");
  hear({ case: "toolCallEnded", value: { callId: "c", tool: "read", status: ToolCallStatus.DONE } });
  const late = create(DeltaSchema, { turnId: "t", step: 2, kind: DeltaKind.TEXT, text: "did", offset: 2 });
  expect(transcript.delta(late).text).toBe("");
  const content = { kind: { case: "text" as const, value: { text: "I did" } } };
  expect(hear({ case: "blockEnded", value: { turnId: "t", step: 2, content } }).text).toBe("I did\n");
});

test("a hook that blocks is named with its reason, which is told once", () => {
  const { notes } = lay(
    {
      case: "hookRan",
      value: {
        hook: "guard",
        point: "tool.before",
        verdict: HookVerdict.BLOCK,
        because: "no",
        ms: 1,
        ran: true,
        callId: "c",
      },
    },
    {
      case: "toolCallEnded",
      value: {
        callId: "c",
        tool: "shell",
        status: ToolCallStatus.DENIED,
        failure: { message: "blocked", hint: "ask" },
      },
    },
  );
  expect(notes).toEqual(["◆ hook guard blocked tool.before: no 1.0 ms", "⊘ shell denied", "  → ask"]);
});

test("hooks that passed or did not run are not worth a line", () => {
  const { notes } = lay(
    { case: "hookRan", value: { hook: "a", verdict: HookVerdict.PASS, ran: true } },
    { case: "hookRan", value: { hook: "b", verdict: HookVerdict.BLOCK, ran: false } },
  );
  expect(notes).toEqual([]);
});

test("no foreign word reaches the terminal as a command", () => {
  const evil = "\u001b[2J\u0007";
  const failure = { message: evil, hint: evil };
  const { notes } = lay(
    { case: "userSpoke", value: { text: evil } },
    { case: "hookRan", value: { hook: evil, point: evil, verdict: HookVerdict.BLOCK, because: evil, ran: true } },
    { case: "approvalAsked", value: { tool: evil, because: evil, args: { [evil]: evil, b: 1 } } },
    { case: "toolCallStarted", value: { callId: "c", tool: evil, args: { command: evil } } },
    { case: "toolCallEnded", value: { callId: "c", tool: evil, status: ToolCallStatus.FAILED, failure } },
    { case: "memoryRemembered", value: { text: evil } },
    { case: "memoryForgotten", value: { memoryId: evil } },
    { case: "turnEnded", value: { outcome: TurnOutcome.FAILED, failure } },
  );
  expect(notes.length).toBeGreaterThan(9);
  for (const control of evil.match(/[^\w[]/g) ?? []) expect(notes.join("\n")).not.toContain(control);
});

test("words before the end of a turn are closed with one newline", () => {
  const { text } = lay(
    { case: "blockEnded", value: { turnId: "t", step: 1, content: { kind: { case: "text", value: { text: "hi" } } } } },
    { case: "turnEnded", value: { turnId: "t", outcome: TurnOutcome.DONE } },
  );
  expect(text).toBe("hi\n");
});
