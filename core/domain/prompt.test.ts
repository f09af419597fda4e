import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import { tool } from "../../tests/kit/session-house.ts";
import type { EventBody } from "./event.ts";
import { evolve } from "./evolve.ts";
import { lastWords, shownTools, systemOf, systemText } from "./prompt.ts";
import { emptySession, type Session } from "./session.ts";

const fold = (...bodies: readonly EventBody[]): Session =>
  bodies.reduce(
    (session, body, index) => evolve(session, create(EventSchema, { seq: index + 1, body })),
    emptySession("s"),
  );
const spoke: EventBody = { case: "userSpoke", value: { messageId: "m", text: "go" } };
const started: EventBody = { case: "turnStarted", value: { turnId: "t", model: "x/y" } };
const replied: EventBody = { case: "replyEnded", value: { turnId: "t", step: 1 } };
const recalled = (turnId: string, text = "a fact"): EventBody => ({ case: "memoryRecalled", value: { turnId, text } });

test("the system prompt names memory only where its tools are, and only those that are", () => {
  expect(systemText("/w", [{ name: "read" }])).not.toContain("memory");
  const both = systemText("/w", [{ name: "remember" }, { name: "read" }, { name: "recall" }]);
  expect(both).toContain("You have a memory that outlives this conversation: recall finds");
  expect(both).toContain("remember keeps");
  expect(both).not.toContain("forget");
  expect(both).not.toContain("memory_search");
});

test("what memory holds joins the words of its turn once, before the first reply, and is none of the person's words", () => {
  const session = fold(spoke, started, recalled("t"), recalled("t", "another"));
  expect(session.messages).toMatchObject([{ content: [{ text: "go" }, { byMemory: true }] }]);
  expect(JSON.stringify(session.messages)).toContain("a fact");
  expect(JSON.stringify(session.messages)).not.toContain("another");
  expect(lastWords(session)).toBe("go");
});

test.each([
  ["of no turn", [spoke, recalled("t")]],
  ["of another turn", [spoke, started, recalled("other")]],
  ["after a reply", [spoke, started, replied, recalled("t")]],
  ["without a text", [spoke, started, recalled("t", "")]],
])("what was recalled %s changes nothing", (_, bodies) => {
  expect(JSON.stringify(fold(...bodies).messages)).not.toContain("byMemory");
});

const chosen = (turnId: string, ...names: readonly string[]): EventBody => ({
  case: "toolsChosen",
  value: { turnId, step: 1, leftOut: names.map((tool) => ({ tool, similarity: 0.1, because: "far" })) },
});
const [read, recall] = ["read", "recall"].map((name) => tool(name, async () => ({ status: "done", output: "" })));
const TOOLS = [read, recall].filter((one) => one !== undefined);
const names = (session: Session) => shownTools(session, TOOLS).map(({ name }) => name);

test("tools that were left out are shown again when the turn ends, or when they were called; of another turn none is", () => {
  expect(names(fold(spoke, started, chosen("t", "recall")))).toEqual(["read"]);
  expect(names(fold(spoke, started, chosen("other", "recall")))).toEqual(["read", "recall"]);
  expect(names(fold(chosen("t", "recall")))).toEqual(["read", "recall"]);
  const ended: EventBody = { case: "turnEnded", value: { turnId: "t" } };
  expect(names(fold(spoke, started, chosen("t", "recall"), ended))).toEqual(["read", "recall"]);
  const call = { callId: "c", tool: "read" };
  const called: EventBody = { case: "blockEnded", value: { content: { kind: { case: "toolCall", value: call } } } };
  const over: EventBody = { case: "toolCallEnded", value: { ...call, output: "x" } };
  expect(names(fold(spoke, started, chosen("t", "read", "recall"), called, over))).toEqual(["read"]);
  // A hook's call is none of the model's.
  const hooks: EventBody = { case: "toolCallEnded", value: { callId: "hook:guard:1", tool: "read" } };
  expect(names(fold(spoke, started, chosen("t", "read", "recall"), hooks))).toEqual([]);
});

test("the system prompt names no tool that is left out, and ends with the profile as it was told last", () => {
  const shown = (text: string): EventBody => ({ case: "profileShown", value: { turnId: "t", text } });
  expect(systemOf(fold(spoke, started, chosen("t", "recall")), TOOLS)).not.toContain("recall");
  const told = systemOf(fold(shown("{}"), spoke, started, shown('{"who": "Ada"}')), TOOLS);
  expect(told).toMatch(/USER PROFILE:\n\{"who": "Ada"\}$/);
  expect(systemOf(fold(shown("{}"), shown("")), TOOLS)).not.toContain("PROFILE");
});
