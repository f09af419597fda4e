import type { JsonObject } from "@bufbuild/protobuf";
import { readForm } from "../../core/domain/answer-form.ts";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { showableLine } from "../../core/domain/showable.ts";
import type { Decisions } from "./decisions.ts";
import type { HostMethods } from "./host-method.ts";
import type { LiveCall, LiveCalls } from "./live-calls.ts";

const QUESTION_LIMIT_CHARS = 500;
const SCHEMA_LIMIT_BYTES = 32 * 1024;
const LINE_LIMIT_CHARS = 2_000;
const TOOL_NAME_LIMIT_CHARS = 64;
/** What a plugin may do in the course of one call: a person's patience, and every one a line that is kept for good. */
const QUESTIONS_PER_CALL_MAX = 10;
const CALLS_PER_CALL_MAX = 100;
/** Calls of other tools that one process may have under way at once. */
const OPEN_CALLS_MAX = 16;
/** Lines beyond it are not shown. */
const LINES_PER_CALL_MAX = 1_000;

type Spent = { questions: number; calls: number; lines: number };

/** What a plugin may ask the conversation for whose call it works on. */
export function callMethods(
  plugin: string,
  calls: LiveCalls,
  decisions: Decisions,
): HostMethods<"progress" | "ask" | "callTool"> {
  const principal = `plugin:${plugin}`;
  let openCalls = 0;
  const spending = new WeakMap<LiveCall, Spent>();

  function spentOn(call: LiveCall): Spent {
    const spent = spending.get(call) ?? { questions: 0, calls: 0, lines: 0 };
    spending.set(call, spent);
    return spent;
  }

  function find(callId: string): Result<LiveCall> {
    const call = calls.find(callId);
    if (call !== undefined) return ok(call);
    const shown = JSON.stringify(showableLine(callId.slice(0, 100)));
    return fail(
      "not_found",
      `${shown} is no call that plugin "${plugin}" is running: it is not one of yours, or it is over`,
    );
  }

  async function callTool({ desk }: LiveCall, word: string, args: JsonObject) {
    // What was granted is a tool, whatever else it is called.
    const tool = desk.toolName(word);
    const allowed = await decisions.judge({ kind: "tool", name: tool }, desk.record);
    if (!allowed.ok) return allowed;
    const called = await desk.callTool(principal, tool, args);
    return ok(called.ok ? { text: called.value, isError: false } : { text: sayFailure(called), isError: true });
  }

  return {
    progress({ callId, text }) {
      const call = find(callId);
      if (!call.ok) return call;
      const spent = spentOn(call.value);
      spent.lines += 1;
      if (spent.lines <= LINES_PER_CALL_MAX) call.value.progress(text.slice(0, LINE_LIMIT_CHARS));
      return ok({});
    },
    async ask({ callId, question, requestedSchema }) {
      const call = find(callId);
      if (!call.ok) return call;
      const wrong = checkQuestion(question) ?? checkSchema(requestedSchema);
      if (wrong !== undefined) return wrong;
      const spent = spentOn(call.value);
      spent.questions += 1;
      if (spent.questions > QUESTIONS_PER_CALL_MAX)
        return fail("exhausted", `a plugin asks at most ${QUESTIONS_PER_CALL_MAX} questions in one call`);
      const word = await call.value.desk.confirm(principal, showableLine(question.trim()), requestedSchema);
      const said = { yes: word.said === "yes", answered: word.said !== "nobody" };
      return ok(word.said === "nobody" || word.content === undefined ? said : { ...said, content: word.content });
    },
    async callTool({ callId, tool, args = {} }) {
      const call = find(callId);
      if (!call.ok) return call;
      if (tool === "" || tool.length > TOOL_NAME_LIMIT_CHARS)
        return fail("invalid", `a tool's name has 1 to ${TOOL_NAME_LIMIT_CHARS} characters, not ${tool.length}`);
      const spent = spentOn(call.value);
      if (spent.calls >= CALLS_PER_CALL_MAX)
        return fail("exhausted", `a plugin calls at most ${CALLS_PER_CALL_MAX} tools in one call`);
      if (openCalls >= OPEN_CALLS_MAX)
        return fail("exhausted", `a plugin calls at most ${OPEN_CALLS_MAX} tools at once`, {
          hint: "await some first",
        });
      spent.calls += 1;
      openCalls += 1;
      try {
        return await callTool(call.value, tool, args);
      } finally {
        openCalls -= 1;
      }
    },
  };
}

/** What cannot be shown and filled in is not asked; nor is what looks like a password. */
function checkSchema(schema: JsonObject | undefined): Failed | undefined {
  if (schema === undefined) return undefined;
  const fields = readForm(schema);
  if (!fields.ok) return fields;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes <= SCHEMA_LIMIT_BYTES) return undefined;
  return fail("exhausted", `what is asked for is described in ${bytes} bytes; the limit is ${SCHEMA_LIMIT_BYTES}`);
}

function checkQuestion(question: string): Failed | undefined {
  if (question.trim() === "") return fail("invalid", "the question is empty");
  if (question.length <= QUESTION_LIMIT_CHARS) return undefined;
  return fail("invalid", `the question has ${question.length} characters; the limit is ${QUESTION_LIMIT_CHARS}`);
}

function sayFailure({ failure: { message, hint } }: Failed): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
