import { type Failure, fail } from "../../core/domain/failure.ts";
import { HOOK_POINT_ALIASES, HOOK_POINTS, type HookOnError, type HookPoint } from "../../core/domain/hook.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";
import { type Grant, type Permission, parsePermission } from "../permission/permission.ts";
import { deniedAbove, HOOK_LEVELS, type HookLevel, isAbove, levelOf } from "./hook-level.ts";

/**
 * What stands in a hook's first doc comment. A header with errors still tells all that could be read of it, so that a
 * guard with a typing error goes on guarding its point.
 */
export type HookHeader = {
  /** With `tool.before` when where it listens cannot be read. */
  readonly points: readonly HookPoint[];
  /** True when where it listens cannot be read: until it is mended it denies at `tool.before`, whatever else it says. */
  readonly unreadable: boolean;
  /** Lower runs first. */
  readonly priority: number;
  readonly timeoutMs: number;
  /** As written; undefined leaves it to the point. */
  readonly onError: HookOnError | undefined;
  readonly level: HookLevel;
  /** What its level does not reach is denied in it. */
  readonly grant: Grant;
  /** The permissions as written. */
  readonly granted: readonly string[];
  /** The first thing that is wrong. */
  readonly failure: Failure | undefined;
};

export const DEFAULT_PRIORITY = 500;
const PRIORITY_MAX = 1_000_000;
const DEFAULT_TIMEOUT_MS = 5_000;
const TIMEOUT_MIN_MS = 10;
const TIMEOUT_MAX_MS = 120_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const CUSTOM_POINT = /^custom\.[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const EXAMPLE = "/** @hook at=tool.before priority=100 timeout=2s on-error=deny */";

/** Before the first statement: a shebang line, blanks, comments. */
const LEADING = /^(?:#![^\n]*\n)?(?:\s+|\/\/[^\n]*\n|\/\*(?!\*)[\s\S]*?\*\/)*/;

/**
 * What a hook is taken to say when it fails. One on `tool.before` is a guard: it denies unless it says otherwise, or can
 * only look on.
 */
export function onErrorAt(header: HookHeader, point: HookPoint): HookOnError {
  if (header.unreadable && point === "tool.before") return "deny";
  return header.onError ?? (point === "tool.before" && header.level !== "read" ? "deny" : "allow");
}

/** The header of a file that cannot be looked at, or that says nothing that can be understood. */
export function unreadableHeader(failure: Failure): HookHeader {
  return {
    points: ["tool.before"],
    unreadable: true,
    priority: DEFAULT_PRIORITY,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    onError: undefined,
    level: "admin",
    grant: { allow: [], deny: [] },
    granted: [],
    failure,
  };
}

type Draft = {
  points: HookPoint[];
  unreadable: boolean;
  priority: number;
  timeoutMs: number;
  onError: HookOnError | undefined;
  level: HookLevel;
  allow: Permission[];
  deny: Permission[];
  granted: string[];
};

/** A problem with one `key=value`; undefined when it is fine. */
type Complaint = { readonly message: string; readonly hint: string } | undefined;

/** A point by its name or by one of its names in other systems. */
export function readPoint(name: string): HookPoint | undefined {
  if (Object.hasOwn(HOOK_POINT_ALIASES, name)) return HOOK_POINT_ALIASES[name];
  return HOOK_POINTS.find((point) => point === name) ?? (isCustom(name) ? name : undefined);
}

function isCustom(name: string): name is `custom.${string}` {
  return CUSTOM_POINT.test(name);
}

function readAt(draft: Draft, value: string): Complaint {
  for (const name of value.split(",")) {
    const point = readPoint(name);
    if (!point) {
      draft.unreadable = true;
      const near = nearestWord(name, [...HOOK_POINTS, ...Object.keys(HOOK_POINT_ALIASES)]);
      return {
        message: `at: there is no hook point "${name}"`,
        hint: near === undefined ? `write one of ${HOOK_POINTS.join(", ")}, or custom.NAME` : `did you mean ${near}?`,
      };
    }
    if (!draft.points.includes(point)) draft.points.push(point);
  }
  return undefined;
}

function readPriority(draft: Draft, value: string): Complaint {
  const priority = Number(value);
  if (value === "" || !Number.isInteger(priority) || Math.abs(priority) > PRIORITY_MAX) {
    return {
      message: `priority: "${value}" is not a whole number`,
      hint: `write priority=${DEFAULT_PRIORITY}; lower runs first`,
    };
  }
  draft.priority = priority;
  return undefined;
}

function readTimeout(draft: Draft, value: string): Complaint {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(value) ?? [];
  const timeoutMs = Math.round(Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN));
  if (!(timeoutMs >= TIMEOUT_MIN_MS && timeoutMs <= TIMEOUT_MAX_MS)) {
    return {
      message: `timeout: "${value}" is not a time from 10ms to 120s`,
      hint: "write timeout=2s or timeout=500ms",
    };
  }
  draft.timeoutMs = timeoutMs;
  return undefined;
}

function readOnError(draft: Draft, value: string): Complaint {
  const verdict = value === "critical" ? "deny" : value;
  if (verdict !== "allow" && verdict !== "deny" && verdict !== "ask") {
    return {
      message: `on-error: "${value}" is not a verdict`,
      hint: "write on-error=allow, on-error=deny or on-error=ask",
    };
  }
  draft.onError = verdict;
  return undefined;
}

function readLevel(draft: Draft, value: string): Complaint {
  const level = HOOK_LEVELS.find((known) => known === value);
  if (!level) return { message: `level: "${value}" is no level`, hint: `write one of ${HOOK_LEVELS.join(", ")}` };
  draft.level = level;
  return undefined;
}

const FIELDS: Readonly<Record<string, (draft: Draft, value: string) => Complaint>> = {
  at: readAt,
  priority: readPriority,
  timeout: readTimeout,
  "on-error": readOnError,
  level: readLevel,
};

function readHookTag(draft: Draft, word: string): Complaint {
  if (word === "critical") return readOnError(draft, word);
  const cut = word.indexOf("=");
  const key = (cut === -1 ? word : word.slice(0, cut)).replaceAll("_", "-");
  if (cut === -1 || !Object.hasOwn(FIELDS, key)) {
    return {
      message: `"${word}" is not a field of @hook`,
      hint: `fields are ${Object.keys(FIELDS).join("=, ")}= and critical; for instance ${EXAMPLE}`,
    };
  }
  return FIELDS[key]?.(draft, word.slice(cut + 1));
}

function readPermissionTag(draft: Draft, tag: "allow" | "deny", word: string, folder: string): Complaint {
  const parsed = parsePermission(word, folder);
  if (!parsed.ok)
    return { message: `@${tag} ${word}: ${parsed.message}`, hint: `for instance @${tag} read=./rules env=CITY` };
  draft[tag].push(...parsed.value);
  draft.granted.push(tag === "allow" ? word : `!${word}`);
  return undefined;
}

function readTag(draft: Draft, text: string, folder: string): Complaint {
  const [tag, ...words] = text.split(/\s+/).filter((word) => word !== "");
  let first: Complaint;
  for (const word of words) {
    const complaint =
      tag === "@hook"
        ? readHookTag(draft, word)
        : readPermissionTag(draft, tag === "@deny" ? "deny" : "allow", word, folder);
    first ??= complaint;
  }
  return first;
}

/** What is granted has to lie within the level: one of both is a mistake. */
function checkLevel({ level, allow }: Draft): Complaint {
  const beyond = allow.find((permission) => isAbove(levelOf(permission), level));
  if (!beyond) return undefined;
  return {
    message: `level: "${level}" does not reach ${beyond.kind}`,
    hint: `write level=${levelOf(beyond)}, or take away @allow ${beyond.kind}`,
  };
}

/**
 * Reads a hook's header without executing anything.
 * @param file how to name the file in a failure
 * @param text the beginning of the file
 * @param folder absolute; relative paths of permissions start here
 */
export function parseHookHeader(file: string, text: string, folder: string): HookHeader {
  const draft: Draft = {
    points: [],
    unreadable: false,
    priority: DEFAULT_PRIORITY,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    onError: undefined,
    level: "admin",
    allow: [],
    deny: [],
    granted: [],
  };
  let failure: Failure | undefined;
  const complain = (line: number, complaint: Complaint) => {
    if (!complaint) return;
    failure ??= fail("invalid", `${file}:${line}: ${complaint.message}`, { hint: complaint.hint }).failure;
  };

  const lead = LEADING.exec(text)?.[0].length ?? 0;
  const end = text.startsWith("/**", lead) ? text.indexOf("*/", lead) : -1;
  const firstLine = text.slice(0, lead).split("\n").length;
  const lines = end === -1 ? [] : text.slice(lead + 3, end).split("\n");
  let tags = 0;
  lines.forEach((line, index) => {
    const content = line.replace(/^\s*\*?\s*/, "").trim();
    if (!/^@(?:hook|allow|deny)(?:\s|$)/.test(content)) return;
    if (content.startsWith("@hook")) tags += 1;
    complain(firstLine + index, readTag(draft, content, folder));
  });
  if (tags === 0) complain(1, { message: "it does not begin with a @hook header", hint: `begin it with ${EXAMPLE}` });
  else if (draft.points.length === 0)
    complain(firstLine, { message: "at: no hook point", hint: `for instance ${EXAMPLE}` });
  complain(firstLine, checkLevel(draft));
  // Whoever wrote @hook meant to guard something; a file without it may be a module that lies beside its hook.
  if (draft.points.length === 0 && mentionsHook(text)) draft.unreadable = true;
  if (draft.unreadable && !draft.points.includes("tool.before")) draft.points.push("tool.before");
  const { allow, deny, ...rest } = draft;
  return { ...rest, grant: { allow, deny: [...deny, ...deniedAbove(draft.level)] }, failure };
}

/** Whether the beginning of a file says, however wrongly, that it is a hook. */
export function mentionsHook(text: string): boolean {
  return /@hook/i.test(text);
}
