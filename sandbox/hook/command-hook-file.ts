import { basename, dirname, extname } from "node:path";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { HookOnError, HookPoint } from "../../core/domain/hook.ts";
import { type Grant, type Permission, parsePermission } from "../permission/permission.ts";
import { DEFAULT_PRIORITY, unreadableHeader } from "./hook-header.ts";
import { type CommandHook, notFiredNotes } from "./known-hook.ts";
import { readMatcher, type ToolMatcher } from "./tool-matcher.ts";

/** One command of a settings file in the format of Claude Code. */
export type CommandOrder = {
  /** The moment's name in that format. */
  readonly event: string;
  /** The line, for a shell. */
  readonly line: string;
  /** Whether it wants to hear about a tool; always true at moments without one. */
  readonly wants: ToolMatcher;
};

/** Moments of that format with a moment of ours. */
const POINTS: Readonly<Record<string, HookPoint>> = {
  PreToolUse: "tool.before",
  PostToolUse: "tool.after",
  UserPromptSubmit: "message.received",
  SessionStart: "session.created",
  SessionEnd: "session.closed",
  Stop: "turn.ended",
  PreCompact: "compact.before",
  SubagentStart: "subagent.started",
  SubagentStop: "subagent.ended",
};
const WITH_MATCHER = ["PreToolUse", "PostToolUse"];
/** Kinds of permission that a command's sandbox can open. */
const OPENED_KINDS = ["read", "write", "net", "env"];
const DEFAULT_TIMEOUT_MS = 60_000;
const TIMEOUT_MAX_MS = 600_000;
const COMMANDS_MAX = 100;
const LINE_MAX_CHARS = 16_384;

type JsonTree = { readonly [key: string]: unknown };

function isTree(value: unknown): value is JsonTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Widening = {
  readonly grant: Grant;
  readonly granted: readonly string[];
  readonly onError: HookOnError | undefined;
};

/** Thrown and caught in this file only: the place that is wrong lies deep in a tree. */
class Misread extends Error {}

function readPermissions(value: unknown, key: "allow" | "deny", folder: string): [Permission[], string[]] {
  if (value === undefined) return [[], []];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw new Misread(`clawd.${key} is not a list of texts such as "read=./rules"`);
  const permissions = value.flatMap((text) => {
    const parsed = parsePermission(text, folder);
    if (!parsed.ok) throw new Misread(`clawd.${key}: ${parsed.message}`);
    const closed = parsed.value.find(({ kind }) => !OPENED_KINDS.includes(kind));
    if (closed)
      throw new Misread(
        `clawd.${key}: a command hook has no use for ${closed.kind}; there are ${OPENED_KINDS.join(", ")}`,
      );
    return parsed.value;
  });
  return [permissions, value];
}

function readWidening(value: unknown, folder: string): Widening {
  if (value === undefined) return { grant: { allow: [], deny: [] }, granted: [], onError: undefined };
  if (!isTree(value)) throw new Misread("clawd is not an object");
  const unknown = Object.keys(value).find((key) => !["allow", "deny", "on_error"].includes(key));
  if (unknown !== undefined) throw new Misread(`clawd.${unknown} means nothing; there are allow, deny and on_error`);
  const onError = value.on_error;
  if (onError !== undefined && onError !== "allow" && onError !== "deny" && onError !== "ask")
    throw new Misread('clawd.on_error is none of "allow", "deny" and "ask"');
  const [allow, allowed] = readPermissions(value.allow, "allow", folder);
  const [deny, denied] = readPermissions(value.deny, "deny", folder);
  return { grant: { allow, deny }, granted: [...allowed, ...denied.map((text) => `!${text}`)], onError };
}

function readTimeout(value: unknown, where: string): number {
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  if (typeof value !== "number" || !(value > 0) || value * 1000 > TIMEOUT_MAX_MS)
    throw new Misread(`${where}: timeout is not a number of seconds up to ${TIMEOUT_MAX_MS / 1000}`);
  return Math.ceil(value * 1000);
}

type Entry = { readonly order: CommandOrder; readonly timeoutMs: number };

function readCommand(value: unknown, event: string, wants: ToolMatcher, where: string): Entry {
  if (!isTree(value)) throw new Misread(`${where} is not an object`);
  if (value.type !== "command") throw new Misread(`${where}: type is not "command", and nothing else can run here`);
  if (value.args !== undefined) throw new Misread(`${where}: args is not known here: write all into command`);
  const line = value.command;
  if (typeof line !== "string" || line.trim() === "" || line.includes("\0") || line.length > LINE_MAX_CHARS)
    throw new Misread(`${where}: command is not a command line`);
  return { order: { event, line, wants }, timeoutMs: readTimeout(value.timeout, where) };
}

function readEvent(event: string, value: unknown): Entry[] {
  if (!Array.isArray(value)) throw new Misread(`hooks.${event} is not a list`);
  return value.flatMap((group, index) => {
    const where = `hooks.${event}[${index}]`;
    if (!isTree(group) || !Array.isArray(group.hooks)) throw new Misread(`${where} has no list "hooks"`);
    const matcher = group.matcher ?? "";
    if (typeof matcher !== "string") throw new Misread(`${where}: matcher is not a text`);
    const wants = readMatcher(WITH_MATCHER.includes(event) ? matcher : "");
    if (typeof wants === "string") throw new Misread(`${where}: matcher ${JSON.stringify(matcher)}: ${wants}`);
    return group.hooks.map((command, at) => readCommand(command, event, wants, `${where}.hooks[${at}]`));
  });
}

function commandHook(file: string, { order, timeoutMs }: Entry, count: number, widening: Widening): CommandHook {
  const group = basename(file, extname(file));
  const point = Object.hasOwn(POINTS, order.event) ? POINTS[order.event] : undefined;
  const points = point ? [point] : [];
  return {
    kind: "command",
    name: `${group}/${order.event}.${count}`,
    file,
    group,
    folder: dirname(file),
    header: {
      points,
      unreadable: false,
      priority: DEFAULT_PRIORITY,
      timeoutMs,
      onError: widening.onError,
      level: "admin",
      grant: widening.grant,
      granted: widening.granted,
      failure: undefined,
    },
    notes: point ? notFiredNotes(points) : [`nothing fires ${order.event} here: it never runs`],
    failure: () => undefined,
    order,
  };
}

function readTree(file: string, tree: unknown): CommandHook[] {
  if (!isTree(tree) || tree.hooks === undefined || tree.disableAllHooks === true) return [];
  if (!isTree(tree.hooks)) throw new Misread("hooks is not an object");
  const widening = readWidening(tree.clawd, dirname(file));
  const hooks = Object.entries(tree.hooks).flatMap(([event, value]) =>
    readEvent(event, value).map((entry, index) => commandHook(file, entry, index + 1, widening)),
  );
  if (hooks.length > COMMANDS_MAX) throw new Misread(`it has ${hooks.length} commands; ${COMMANDS_MAX} are the limit`);
  return hooks;
}

/**
 * The commands of a settings file; none when it is whole JSON of something else. What cannot be read to its end fails,
 * whatever its beginning says: the rest may hold a guard. Nothing is executed.
 */
export function parseCommandFile(file: string, text: string): Result<readonly CommandHook[]> {
  try {
    return ok(readTree(file, JSON.parse(text)));
  } catch (cause) {
    if (!(cause instanceof Misread) && !(cause instanceof SyntaxError)) throw cause;
    const what = cause instanceof SyntaxError ? `it is not JSON: ${cause.message}` : cause.message;
    return fail("invalid", `${basename(file)}: ${what}`, { hint: `mend ${file}`, cause });
  }
}

/** Stands for a settings file that cannot be read: nobody knows what it guards. */
export function brokenCommandFile(file: string, failure: Failure): CommandHook {
  const name = basename(file, extname(file));
  return {
    kind: "command",
    name,
    file,
    group: name,
    folder: dirname(file),
    header: unreadableHeader(failure),
    notes: [],
    failure: () => failure,
    order: { event: "PreToolUse", line: "", wants: () => true },
  };
}
