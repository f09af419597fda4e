import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Desk } from "./desk.ts";

/** The moments at which hooks are heard; those of `NOT_FIRED_YET` only once their part of the house stands. */
export const HOOK_POINTS = [
  "session.created",
  "session.closed",
  "message.received",
  "context.build",
  "model.before",
  "model.after",
  "step.before",
  "step.after",
  "tool.before",
  "tool.after",
  "turn.ended",
  "compact.before",
  "compact.after",
  "subagent.started",
  "subagent.ended",
  "approval.asked",
  "config.reloaded",
] as const;

/** `custom.NAME` is a moment that an extension names itself. */
export type HookPoint = (typeof HOOK_POINTS)[number] | `custom.${string}`;

/** Points that a hook may name and that nothing fires yet; so does nothing fire `custom.*`. */
export const NOT_FIRED_YET: readonly HookPoint[] = [
  "compact.before",
  "compact.after",
  "subagent.started",
  "subagent.ended",
  "config.reloaded",
];

export function isFired(point: HookPoint): boolean {
  return !NOT_FIRED_YET.includes(point) && !point.startsWith("custom.");
}

/** Names of the same moments in other systems. */
export const HOOK_POINT_ALIASES: Readonly<Record<string, HookPoint>> = {
  SessionCreated: "session.created",
  SessionStart: "session.created",
  SessionClosed: "session.closed",
  SessionEnd: "session.closed",
  MessageReceived: "message.received",
  post_user_input: "message.received",
  UserPromptSubmit: "message.received",
  context_enhance: "context.build",
  pre_llm_send: "model.before",
  post_llm_response: "model.after",
  ResponseGenerated: "model.after",
  BeforeStep: "step.before",
  AfterStep: "step.after",
  BeforeToolCall: "tool.before",
  ToolCallBefore: "tool.before",
  pre_tool_execute: "tool.before",
  PreToolUse: "tool.before",
  AfterToolCall: "tool.after",
  ToolCallAfter: "tool.after",
  post_tool_execute: "tool.after",
  PostToolUse: "tool.after",
  Stop: "turn.ended",
  PreCompact: "compact.before",
  PostCompact: "compact.after",
  SubagentStart: "subagent.started",
  SubagentStop: "subagent.ended",
  PermissionRequest: "approval.asked",
  ConfigReload: "config.reloaded",
  ConfigChange: "config.reloaded",
};

/**
 * What hooks get to see, and what their answers do beside pass.
 * - `session.created`: `{ model }`; a block refuses the session.
 * - `session.closed`: `{ reason }` (`removed` or `daemon ended`); only heard.
 * - `message.received`: `{ text }`; modify, or block: the message is refused; or skip: the message is dealt with, and
 *   nothing is said.
 * - `context.build`: `{ text, context }` once a turn; a modify of `context` goes to the model beside the words.
 * - `model.before`: `{ model, step, system, context }` once a model call; modify `system` and `context`; a block ends the turn.
 * - `model.after`: `{ model, step, text, calls: [{ tool, args }], stop }`; a modify of `text` is what is kept, and
 *   nobody reads the words before; a block ends the turn before its tools run.
 * - `step.before`: `{ step }`, a block ends the turn; `step.after`: `{ step, calls: [{ tool, args }] }`, only heard.
 * - `tool.before`: `{ tool, args }`; modify, block, or answer in the tool's place.
 * - `tool.after`: `{ tool, args, status, output }`; modify `output`, block withholds it, answer replaces it.
 * - `turn.ended`: `{ outcome, text }`; only heard, just before the end is written; once more when a message that came
 *   meanwhile kept the turn going.
 * - `approval.asked`: `{ tool, args, permission, because }`; a block answers no. No hook can answer yes.
 */
export type HookEvent = {
  readonly at: HookPoint;
  readonly sessionId: string;
  /** Empty outside a turn. */
  readonly turnId: string;
  /** Empty at points without a call. */
  readonly callId: string;
  readonly workspace: string;
  readonly value: JsonObject;
};

/** What holds when a hook fails: the event goes on, is stopped, or a person is asked where one can be. */
export type HookOnError = "allow" | "deny" | "ask";

/**
 * One hook's answer. `modify` carries the whole new value of the point, and with `last` passes over the hooks after it;
 * `answer` a result in the tool's place, `skip` passes over the hooks after it, `ask` comes from `on_error: ask`.
 */
export type HookAnswer =
  | { readonly do: "pass" }
  | { readonly do: "modify"; readonly value: JsonObject; readonly last?: true }
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

/** What the conversation offers to the hooks that it fires. */
export type HookContext = Desk & { readonly signal: AbortSignal };

/** What one hook said to one event, its failure already turned into an answer by its on_error. */
export type HookReply = { readonly answer: HookAnswer; readonly because: string; readonly ms: number };

/** One hook at one point, whatever it is made of. */
export type HookListener = {
  /** Unique over all hooks: a file's name, or "plugin:NAME". */
  readonly name: string;
  /** Lower is asked first; equals of different sources in order of their names. */
  readonly priority: number;
  /** False for an event that it leaves alone, e.g. a call of another tool. */
  wants(event: HookEvent): boolean;
  /** Never rejects. */
  ask(event: HookEvent, context: HookContext): Promise<HookReply>;
};

/** Hooks of one kind: scripts, plugins. */
export type HookSource = {
  /** In the order of running: by priority, equals as the source has it. Starts nothing. */
  listeners(point: HookPoint): Promise<readonly HookListener[]>;
  /** A session is gone for good: what is kept in memory for its hooks goes too. */
  forget(sessionId: string): void;
};

export type Hooks = {
  /** Whether any hook listens at a point; what only hooks need is left out otherwise. */
  hears(point: HookPoint): Promise<boolean>;
  /** Never throws: a hook that fails answers by its own `on_error`. */
  run(event: HookEvent, context: HookContext): Promise<HookOutcome>;
  /** A session is gone for good: what is kept in memory for its hooks goes too, whoever listens at `session.closed`. */
  forget(sessionId: string): void;
};

export const NO_HOOKS: HookOutcome = { answer: { do: "pass" }, receipts: [] };
