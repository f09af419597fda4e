import { ok, type Result } from "../../core/domain/failure.ts";
import { HOOK_POINT_ALIASES, HOOK_POINTS, type HookPoint, isFired } from "../../core/domain/hook.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";
import type { HookDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { Reject } from "./rejection.ts";

const MAX_HOOKS = 32;
const MAX_TOOLS = 128;
const DEFAULT_PRIORITY = 500;
const MAX_PRIORITY = 1_000_000;
const DEFAULT_TIMEOUT_MS = 5000;
const MAX_TIMEOUT_MS = 120_000;
const CUSTOM_POINT = /^custom\.[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export type PluginHook = {
  /** Its place among the hooks that the manifest declares, counted from 0. */
  readonly index: number;
  /** By its own name, never an alias. */
  readonly at: HookPoint;
  /** Lower runs first. */
  readonly priority: number;
  readonly timeoutMs: number;
  /** What counts when it fails or is late. */
  readonly onError: "allow" | "deny" | "ask";
  /** Only calls of these tools; empty means all. */
  readonly tools: readonly string[];
};

/** A point that nobody knows leaves its hook out, with a warning: another release of clawd may have it. */
export function judgeHooks(
  declared: readonly HookDeclaration[],
  reject: Reject,
): Result<{ hooks: readonly PluginHook[]; warnings: readonly string[] }> {
  if (declared.length > MAX_HOOKS) return reject("hooks", `has more than ${MAX_HOOKS} entries`);
  const hooks: PluginHook[] = [];
  const warnings: string[] = [];
  for (const [index, one] of declared.entries()) {
    const field = `hooks[${index}]`;
    const at = readPoint(one.at);
    if (at === undefined) {
      warnings.push(sayUnknownPoint(one.at, field));
      continue;
    }
    const judged = judgeHook(one, at, field, reject);
    if (!judged.ok) return judged;
    if (hooks.some((other) => other.at === at))
      return reject(`${field}.at`, `listens at ${at} a second time`, "let one hook do the work of both");
    if (!isFired(at)) warnings.push(`${field}.at: nothing fires ${at} yet, so nothing is heard there`);
    hooks.push({ index, ...judged.value });
  }
  return ok({ hooks, warnings });
}

function judgeHook(
  declared: HookDeclaration,
  at: HookPoint,
  field: string,
  reject: Reject,
): Result<Omit<PluginHook, "index">> {
  const { priority, timeoutMs, tools } = declared;
  if (priority > MAX_PRIORITY) return reject(`${field}.priority`, `must be at most ${MAX_PRIORITY}`);
  if (timeoutMs > MAX_TIMEOUT_MS) return reject(`${field}.timeoutMs`, `must be at most ${MAX_TIMEOUT_MS}`);
  const onError = readOnError(declared.onError, at);
  if (onError === undefined) {
    return reject(
      `${field}.onError`,
      `${JSON.stringify(declared.onError)} is no verdict`,
      'write "allow", "deny" or "ask"',
    );
  }
  if (tools.length > 0 && !at.startsWith("tool."))
    return reject(
      `${field}.tools`,
      `means nothing at ${at}`,
      "remove it: only tool.before and tool.after hear of tools",
    );
  if (tools.length > MAX_TOOLS) return reject(`${field}.tools`, `has more than ${MAX_TOOLS} entries`);
  if (tools.includes("")) return reject(`${field}.tools`, "holds an empty name", "remove it");
  return ok({
    at,
    priority: priority || DEFAULT_PRIORITY,
    timeoutMs: timeoutMs || DEFAULT_TIMEOUT_MS,
    onError,
    tools,
  });
}

function readPoint(name: string): HookPoint | undefined {
  if (CUSTOM_POINT.test(name)) return name as HookPoint;
  if (Object.hasOwn(HOOK_POINT_ALIASES, name)) return HOOK_POINT_ALIASES[name];
  return HOOK_POINTS.find((known) => known === name);
}

function readOnError(onError: string, at: HookPoint): PluginHook["onError"] | undefined {
  if (onError === "") return at === "tool.before" ? "deny" : "allow";
  return (["allow", "deny", "ask"] as const).find((known) => known === onError);
}

function sayUnknownPoint(name: string, field: string): string {
  const near = nearestWord(name, [...HOOK_POINTS, ...Object.keys(HOOK_POINT_ALIASES)]);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return `${field}.at: there is no hook point ${JSON.stringify(name)}, so nothing is heard there${hint}`;
}
