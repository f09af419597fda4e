import { create, type JsonObject, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { type HookAnswer, HookAnswerSchema, type HookEventSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

/** What one of the six legacy hooks is called with, and what its answer means at our point. */
type LegacyHook = {
  readonly method: string;
  /** Takes the point's value apart into the legacy parameters. */
  paramsOf(value: JsonObject): JsonObject;
  /** The point's value with the data of an answer in it; undefined when the answer carries none. */
  apply(value: JsonObject, answer: JsonObject): JsonObject | undefined;
  /** What `stop` and `skip` do beside ending the chain. */
  readonly ending: "end" | "discard" | "block" | "nothing";
};

const NO_REASON = "blocked by a plugin";

/** Legacy hooks by our points. What an answer may not carry, or carries as anything but text, is left out. */
const LEGACY_HOOKS: Readonly<Record<string, LegacyHook>> = {
  "message.received": {
    method: "hook/post_user_input",
    paramsOf: ({ text = "" }) => ({ message: text }),
    apply: (value, { message }) => (typeof message === "string" ? { ...value, text: message } : undefined),
    ending: "discard",
  },
  "context.build": {
    method: "hook/context_enhance",
    paramsOf: ({ text = "", context = "" }) => ({ user_message: text, dynamic_context: context }),
    apply: applyContext,
    ending: "nothing",
  },
  "model.before": {
    method: "hook/pre_llm_send",
    paramsOf: ({ system = "", context = "" }) => ({ base_prompt: system, dynamic_context: context }),
    apply: (value, answer) => {
      const next = applyContext(value, answer);
      return typeof answer.base_prompt === "string" ? { ...(next ?? value), system: answer.base_prompt } : next;
    },
    ending: "end",
  },
  "model.after": {
    method: "hook/post_llm_response",
    paramsOf: ({ text = "", calls }) => ({ text, tool_calls: legacyCalls(calls) }),
    apply: (value, { text }) => (typeof text === "string" ? { ...value, text } : undefined),
    ending: "end",
  },
  "tool.before": {
    method: "hook/pre_tool_execute",
    paramsOf: ({ tool = "", args = {} }) => ({ tool_name: tool, arguments: args }),
    apply: () => undefined,
    ending: "block",
  },
  "tool.after": {
    method: "hook/post_tool_execute",
    paramsOf: ({ tool = "", args = {}, output = "", status }) => ({
      tool_name: tool,
      arguments: args,
      result: output,
      success: status === "done",
    }),
    apply: (value, { result }) => (typeof result === "string" ? { ...value, output: result } : undefined),
    ending: "end",
  },
};

/** The request for an event; undefined at points that have no legacy hook. */
export function legacyRequest({
  at = "",
  value = {},
}: MessageInitShape<typeof HookEventSchema>): { readonly method: string; readonly params: JsonObject } | undefined {
  const hook = LEGACY_HOOKS[at];
  return hook === undefined ? undefined : { method: hook.method, params: hook.paramsOf(value) };
}

/**
 * What a legacy answer means. No or an unknown action is `continue`; `stop` applies its data and passes over the hooks
 * after it; `skip` does the same without its data. An answer that is no object is a failure.
 */
export function legacyAnswer(
  { at = "", value = {} }: MessageInitShape<typeof HookEventSchema>,
  answer: JsonValue,
): HookAnswer {
  const hook = LEGACY_HOOKS[at];
  if (hook === undefined) return pass();
  if (!isJsonObject(answer)) return legacyFailure(`answered ${hook.method} with what is no object`);
  const { action } = answer;
  const ends = (action === "stop" || action === "skip") && hook.ending !== "nothing";
  if (ends && hook.ending === "discard") return skip();
  if (ends && hook.ending === "block" && action === "stop") {
    const because = typeof answer.result === "string" && answer.result !== "" ? answer.result : NO_REASON;
    return create(HookAnswerSchema, { verdict: { case: "block", value: because } });
  }
  const next = ends && action === "skip" ? undefined : hook.apply(value, answer);
  if (next === undefined) return ends ? skip() : pass();
  return create(HookAnswerSchema, { verdict: { case: "modify", value: next }, last: ends });
}

/** A hook that failed; what counts then is for its manifest to say. */
export function legacyFailure(problem: string): HookAnswer {
  return create(HookAnswerSchema, { verdict: { case: "failure", value: problem } });
}

function pass(): HookAnswer {
  return create(HookAnswerSchema, { verdict: { case: "pass", value: true } });
}

function skip(): HookAnswer {
  return create(HookAnswerSchema, { verdict: { case: "skip", value: true } });
}

function applyContext(value: JsonObject, { dynamic_context }: JsonObject): JsonObject | undefined {
  return typeof dynamic_context === "string" ? { ...value, context: dynamic_context } : undefined;
}

function legacyCalls(calls: JsonValue | undefined): JsonValue[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call) => (isJsonObject(call) ? [{ name: call.tool ?? "", arguments: call.args ?? {} }] : []));
}
