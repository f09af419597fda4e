import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  ApprovalScope,
  EventSchema,
  HookVerdict,
  PermissionSource,
  ToolCallStatus,
  TurnOutcome,
} from "../proto/gen/clawd/v1/event_pb.ts";
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
    { case: "approvalAsked", value: { permission: `read=${evil}`, principal: evil } },
    { case: "approvalAsked", value: { permission: evil, principal: evil } },
    { case: "permissionDecided", value: { principal: evil, permission: evil, because: evil } },
    { case: "toolCallStarted", value: { callId: "hook:x:1", tool: evil, args: { command: evil } } },
    { case: "toolCallEnded", value: { callId: `hook:${evil}:1`, tool: evil, status: ToolCallStatus.DONE } },
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

test("a question about a permission says who wants to do what, and an answer how far it reaches", () => {
  const asked = (permission: string): Body => ({
    case: "approvalAsked",
    value: { approvalId: "q", permission, principal: "hook:guard", because: "it was neither granted nor denied" },
  });
  const answered = (allowed: boolean, scope: ApprovalScope): Body => ({
    case: "approvalAnswered",
    value: { approvalId: "q", allowed, scope },
  });
  const { notes } = lay(
    ...["read=/etc/hosts", "net=example.com:443", "env", "new=thing"].map(asked),
    answered(true, ApprovalScope.ONCE),
    answered(true, ApprovalScope.SESSION),
    answered(true, ApprovalScope.ALWAYS),
    answered(false, ApprovalScope.ONCE),
  );
  expect(notes).toEqual([
    "? hook guard wants to read /etc/hosts",
    "? hook guard wants to connect to example.com:443",
    "? hook guard wants to see every variable",
    "? hook guard wants to have new=thing",
    "  allowed once",
    "  allowed for the rest of the session",
    "  allowed always",
    "  refused",
  ]);
});

test("a denied permission is shown, unless a person has just denied it; an allowed one is not", () => {
  const decided = (allowed: boolean, source: PermissionSource): Body => ({
    case: "permissionDecided",
    value: { principal: "hook:guard", permission: "write=/etc/hosts", allowed, source, because: "not granted" },
  });
  const { notes } = lay(
    decided(true, PermissionSource.RULE),
    decided(false, PermissionSource.PERSON),
    decided(false, PermissionSource.RULE),
  );
  expect(notes).toEqual(["⊘ hook guard may not write /etc/hosts not granted"]);
});

test("a call that a hook makes is told as the hook's", () => {
  const { notes } = lay(
    { case: "toolCallStarted", value: { callId: "hook:guard:1", tool: "read", args: { path: "a.md" } } },
    { case: "toolCallEnded", value: { callId: "hook:guard:1", tool: "read", status: ToolCallStatus.DONE, ms: 2 } },
  );
  expect(notes).toEqual(["◆ hook guard called: ✓ read a.md 2.0 ms"]);
});

test("a plugin's question is shown in its own words, harmless, and its answer as yes or no", () => {
  const because = "Send it?\u202e\u001b[2K now";
  const asked: Body = { case: "approvalAsked", value: { approvalId: "q", principal: "plugin:mailer", because } };
  const answered = (allowed: boolean): Body => ({
    case: "approvalAnswered",
    value: { approvalId: "q", allowed, scope: ApprovalScope.ONCE },
  });
  const { notes } = lay(asked, answered(true), asked, answered(false));
  expect(notes[0]).toMatch(/^\? plugin mailer asks: Send it\?/);
  for (const control of ["\u202e", "\u001b"]) expect(notes.join("")).not.toContain(control);
  expect([notes[1], notes[3]]).toEqual(["  yes", "  no"]);
});

test("a call that a plugin makes is told as the plugin's", () => {
  const { notes } = lay(
    { case: "toolCallStarted", value: { callId: "plugin:notes:1", tool: "read", args: { path: "a.md" } } },
    { case: "toolCallEnded", value: { callId: "plugin:notes:1", tool: "read", status: ToolCallStatus.DONE, ms: 2 } },
  );
  expect(notes).toEqual(["◆ plugin notes called: ✓ read a.md 2.0 ms"]);
});

test("a line about memory waits for the end of words that are being printed", () => {
  const transcript = openTranscript((_style, text) => text, { echoUser: true });
  const hear = (body: Body) => transcript.event(create(EventSchema, { body }));
  transcript.delta(create(DeltaSchema, { turnId: "t", step: 1, kind: DeltaKind.TEXT, text: "I will" }));
  expect(hear({ case: "memoryRecalled", value: { memoryIds: ["m"] } })).toEqual({ text: "", notes: [] });
  const content = { kind: { case: "text" as const, value: { text: "I will" } } };
  expect(hear({ case: "blockEnded", value: { turnId: "t", step: 1, content } })).toEqual({
    text: "\n",
    notes: ["✎ from memory: one thing about that"],
  });
});
