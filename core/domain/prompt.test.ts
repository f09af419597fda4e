import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "./event.ts";
import { evolve } from "./evolve.ts";
import { lastWords, systemText } from "./prompt.ts";
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
