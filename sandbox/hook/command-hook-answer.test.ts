import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { HookEvent, HookPoint } from "../../core/domain/hook.ts";
import { readCommandEnd } from "./command-hook-answer.ts";

const VALUES: Readonly<Record<string, readonly [HookPoint, JsonObject]>> = {
  PreToolUse: ["tool.before", { tool: "read", args: { path: "a.txt" } }],
  PostToolUse: ["tool.after", { tool: "read", args: {}, status: "done", output: "text" }],
  UserPromptSubmit: ["message.received", { text: "hello" }],
  SessionStart: ["session.created", { model: "" }],
  Stop: ["turn.ended", { outcome: "done", text: "" }],
};

function read(name: string, code: number, stdout: unknown, stderr = "") {
  const [at, value] = VALUES[name] ?? VALUES.PreToolUse ?? ["tool.before", {}];
  const event: HookEvent = { at, sessionId: "s", turnId: "t", callId: "c", workspace: "/w", value };
  const text = typeof stdout === "string" ? stdout : JSON.stringify(stdout);
  const end = readCommandEnd({ code, stdout: text, stderr }, name, event);
  return end.ok ? end.value.answer : `${end.failure.code}: ${end.failure.message}`;
}

const specific = (fields: JsonObject) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });

test.each([
  ["PreToolUse", 0, "", { do: "pass" }],
  ["PreToolUse", 0, "all well", { do: "pass" }],
  ["PreToolUse", 0, {}, { do: "pass" }],
  ["PreToolUse", 0, { continue: false, stopReason: "stop" }, { do: "block", because: "stop" }],
  ["PreToolUse", 0, { decision: "block", reason: "no" }, { do: "block", because: "no" }],
  ["PreToolUse", 0, { decision: "approve" }, { do: "pass" }],
  ["PreToolUse", 0, specific({ permissionDecision: "allow" }), { do: "pass" }],
  [
    "PreToolUse",
    0,
    specific({ permissionDecision: "deny", permissionDecisionReason: "no\u001b[2J" }),
    { do: "block", because: "no\\u{1b}[2J" },
  ],
  [
    "PreToolUse",
    0,
    specific({ permissionDecision: "ask", permissionDecisionReason: "sure?" }),
    { do: "ask", because: "sure?" },
  ],
  [
    "PreToolUse",
    0,
    specific({ permissionDecision: "allow", updatedInput: { file_path: "/w/b.txt" } }),
    { do: "modify", value: { tool: "read", args: { path: "/w/b.txt" } } },
  ],
  [
    "PreToolUse",
    0,
    specific({ updatedInput: { file_path: "/w/a.txt", limit: 3 } }),
    { do: "modify", value: { tool: "read", args: { path: "a.txt", limit: 3 } } },
  ],
  [
    "PreToolUse",
    0,
    specific({ permissionDecision: "ask", updatedInput: {} }),
    { do: "block", because: expect.stringContaining("a question cannot carry") },
  ],
  ["PreToolUse", 0, { systemMessage: "hello" }, { do: "pass" }],
  [
    "PostToolUse",
    0,
    specific({ additionalContext: "look" }),
    { do: "modify", value: { tool: "read", args: {}, status: "done", output: "text\n\nlook" } },
  ],
  ["PostToolUse", 0, { decision: "block", reason: "bad" }, { do: "block", because: "bad" }],
  ["UserPromptSubmit", 0, "the date is known", { do: "modify", value: { text: "hello\n\nthe date is known" } }],
  ["UserPromptSubmit", 0, specific({ additionalContext: "x" }), { do: "modify", value: { text: "hello\n\nx" } }],
  ["UserPromptSubmit", 0, { decision: "block", reason: "secret" }, { do: "block", because: "secret" }],
  ["SessionStart", 0, "hello", { do: "pass" }],
  ["Stop", 0, { decision: "block", reason: "go on" }, { do: "pass" }],
])("%s with code %i and %j", (name, code, stdout, answer) => {
  expect(read(name, code, stdout)).toEqual(answer);
});

test("code 2 is a no with the reason on stderr, even when there is none", () => {
  expect(read("PreToolUse", 2, "", "not today\n")).toEqual({ do: "block", because: "not today" });
  expect(read("PreToolUse", 2, { decision: "approve" }, "")).toEqual({ do: "block", because: "it gave no reason" });
  expect(read("Stop", 2, "", "go on")).toEqual({ do: "pass" });
});

test.each([
  [1, "", "boom\nmore", "unavailable: ended with code 1: boom"],
  [127, "", "sh: x: not found", "unavailable: could not be started (code 127): sh: x: not found"],
  [126, "", "", "unavailable: could not be started (code 126)"],
  [137, "", "", "unavailable: ended with code 137"],
  [0, "{ broken", "", "invalid: printed JSON that cannot be read"],
  [0, '{"decision":"maybe"}', "", 'invalid: gave the decision "maybe"'],
  [0, '{"hookSpecificOutput":{"permissionDecision":1}}', "", "invalid: gave the permissionDecision 1"],
])("code %i with %j is a failure", (code, stdout, stderr, failure) => {
  expect(read("PreToolUse", code, stdout, stderr)).toBe(failure);
});
