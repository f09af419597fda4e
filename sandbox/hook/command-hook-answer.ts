import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { HookAnswer, HookEvent } from "../../core/domain/hook.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { showable } from "../../core/domain/showable.ts";
import { ourArgs } from "./claude-tools.ts";

/** How a command ended, and what it printed. */
export type CommandSaid = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** What a command meant; `remark` is for the log. */
export type CommandWord = { readonly answer: HookAnswer; readonly remark: string };

const BLOCK_CODE = 2;
/** What a shell says of a program that it cannot execute, or does not find. */
const NOT_STARTED_CODES = [126, 127];
/** Moments at which what is printed as plain text goes to the model. */
const TEXT_IS_CONTEXT = ["UserPromptSubmit"];
/** Moments that are over, so that nothing can be held back. */
const ONLY_HEARD = ["SessionEnd", "Stop"];

const PASS: HookAnswer = { do: "pass" };

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function block(because: string): HookAnswer {
  return { do: "block", because: showable(because.trim() === "" ? "it gave no reason" : because.trim()) };
}

/** Text of a hook's for the model, behind what is there: the words of a person, or a tool's output. */
function withContext(event: HookEvent, context: string): HookAnswer | undefined {
  const key = event.at === "message.received" ? "text" : event.at === "tool.after" ? "output" : undefined;
  const before = key === undefined ? undefined : event.value[key];
  if (key === undefined || typeof before !== "string" || context.trim() === "") return undefined;
  return { do: "modify", value: { ...event.value, [key]: `${before}\n\n${context.trim()}` } };
}

function withInput(event: HookEvent, input: JsonObject): HookAnswer {
  const { tool, args } = event.value;
  const before = isJsonObject(args) ? args : {};
  return { do: "modify", value: { ...event.value, args: ourArgs(textOf(tool), input, before, event.workspace) } };
}

/** `allow` is a pass: it takes away no question and no denial of the gates. */
function readPermission(specific: JsonObject, event: HookEvent): Result<HookAnswer> {
  const { permissionDecision: decision, permissionDecisionReason, updatedInput } = specific;
  const reason = textOf(permissionDecisionReason);
  const changed = isJsonObject(updatedInput) ? withInput(event, updatedInput) : undefined;
  switch (decision) {
    case undefined:
    case "allow":
      return ok(changed ?? PASS);
    case "deny":
      return ok(block(reason));
    case "ask":
      if (changed) return ok(block(`${reason} (it changes what it asks about, which a question cannot carry)`));
      return ok({ do: "ask", because: showable(reason) });
    default:
      return fail("invalid", `gave the permissionDecision ${showable(JSON.stringify(decision)).slice(0, 100)}`);
  }
}

function readJson(output: JsonObject, event: HookEvent): Result<HookAnswer> {
  const specific = isJsonObject(output.hookSpecificOutput) ? output.hookSpecificOutput : {};
  if (output.continue === false) return ok(block(textOf(output.stopReason)));
  if (output.decision === "block" || output.decision === "deny") return ok(block(textOf(output.reason)));
  if (output.decision !== undefined && output.decision !== "approve" && output.decision !== "allow")
    return fail("invalid", `gave the decision ${showable(JSON.stringify(output.decision)).slice(0, 100)}`);
  const judged = event.at === "tool.before" ? readPermission(specific, event) : ok(PASS);
  if (!judged.ok || judged.value.do !== "pass") return judged;
  return ok(withContext(event, textOf(specific.additionalContext)) ?? PASS);
}

function readOutput(stdout: string, name: string, event: HookEvent): Result<CommandWord> {
  const text = stdout.trim();
  if (!text.startsWith("{")) {
    const context = TEXT_IS_CONTEXT.includes(name) ? withContext(event, text) : undefined;
    return ok({ answer: context ?? PASS, remark: context ? "" : text });
  }
  let output: JsonValue;
  try {
    output = JSON.parse(text) as JsonValue;
  } catch (cause) {
    return fail("invalid", "printed JSON that cannot be read", { cause });
  }
  const answer = isJsonObject(output) ? readJson(output, event) : ok(PASS);
  if (!answer.ok) return answer;
  return ok({ answer: answer.value, remark: isJsonObject(output) ? textOf(output.systemMessage) : "" });
}

function firstLine(text: string): string {
  const line = showable(text.trim().split("\n", 1)[0] ?? "");
  return line === "" ? "" : `: ${line}`;
}

function notStarted({ code, stderr }: CommandSaid): Failed {
  return fail("unavailable", `could not be started (code ${code})${firstLine(stderr)}`);
}

/**
 * Reads what a command of the Claude Code format said: code 0 with JSON or text, 2 for a block with the reason on stderr,
 * anything else for a failure.
 */
export function readCommandEnd(end: CommandSaid, name: string, event: HookEvent): Result<CommandWord> {
  if (NOT_STARTED_CODES.includes(end.code)) return notStarted(end);
  if (end.code !== 0 && end.code !== BLOCK_CODE)
    return fail("unavailable", `ended with code ${end.code}${firstLine(end.stderr)}`);
  const read = end.code === 0 ? readOutput(end.stdout, name, event) : ok({ answer: block(end.stderr), remark: "" });
  if (!read.ok || read.value.answer.do === "pass" || !ONLY_HEARD.includes(name)) return read;
  return ok({ answer: PASS, remark: `wanted ${read.value.answer.do}, which nothing can do at ${name}` });
}
