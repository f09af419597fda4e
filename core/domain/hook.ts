import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The moments at which hooks are heard today. */
export const HOOK_POINTS = ["message.received", "tool.before", "tool.after"] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

/** Names of the same moments in other systems. */
export const HOOK_POINT_ALIASES: Readonly<Record<string, HookPoint>> = {
  MessageReceived: "message.received",
  post_user_input: "message.received",
  UserPromptSubmit: "message.received",
  BeforeToolCall: "tool.before",
  pre_tool_execute: "tool.before",
  PreToolUse: "tool.before",
  AfterToolCall: "tool.after",
  post_tool_execute: "tool.after",
  PostToolUse: "tool.after",
};

/**
 * What hooks get to see.
 * - `message.received`: `{ text }`
 * - `tool.before`: `{ tool, args }`
 * - `tool.after`: `{ tool, args, status, output }`
 */
export type HookEvent = {
  readonly at: HookPoint;
  readonly sessionId: string;
  readonly turnId: string;
  /** Empty at points without a call. */
  readonly callId: string;
  readonly workspace: string;
  readonly value: JsonObject;
};

/**
 * One hook's answer. `modify` carries the whole new value of the point, `answer` a result in the tool's place, `skip`
 * passes over the hooks after it, `ask` comes from `on_error: ask`.
 */
export type HookAnswer =
  | { readonly do: "pass" }
  | { readonly do: "modify"; readonly value: JsonObject }
  | { readonly do: "block"; readonly because: string }
  | { readonly do: "answer"; readonly result: JsonValue }
  | { readonly do: "skip" }
  | { readonly do: "ask"; readonly because: string };

export type HookReceipt = {
  readonly hook: string;
  readonly verdict: HookAnswer["do"];
  /** Its own words, or those of its failure; empty when there are none. */
  readonly because: string;
  readonly ms: number;
  /** False when it was considered but an earlier hook had decided. */
  readonly ran: boolean;
};

/**
 * What all hooks of a point said together: the first `block` or `answer` ends it, `modify` feeds the next hook, `ask`
 * is kept unless something stronger comes. One receipt a hook, in the order of running.
 */
export type HookOutcome = { readonly answer: HookAnswer; readonly receipts: readonly HookReceipt[] };

/** Never throws: a hook that fails answers by its own `on_error`. */
export type Hooks = { run(event: HookEvent, signal: AbortSignal): Promise<HookOutcome> };

export const NO_HOOKS: HookOutcome = { answer: { do: "pass" }, receipts: [] };
