import { isAbsolute } from "node:path";
import { ISOLATE_LIMITS } from "../../sandbox/isolate/limits.ts";
import { checkNotZero, numberOf, type Section, textOf, type Values, type WrongValue } from "./section.ts";

/** What strangers' scripts run in. */
export type SandboxSettings = {
  readonly sandbox: "auto" | "none";
  /** What runs scripts that name no runtime, and where Deno is: a name on PATH or an absolute path. */
  readonly scripts: { readonly runtime: "isolate" | "deno"; readonly deno: string };
  readonly hooks: {
    readonly killsAllowed: number;
    readonly killWindowMs: number;
    readonly commandsWithoutSandbox: boolean;
    /** Processes of trust groups that live at one moment. */
    readonly processes: number;
    /** Heap of a hook's isolate. */
    readonly memoryMib: number;
  };
};

/** So many kills of a hook's process within so long turn the hook off. */
const KILLS_ALLOWED = 3;
const KILL_WINDOW_SECONDS = 600;
/** Heap of a hook's isolate, MiB: below, the surface itself does not fit; above, the process's own limit comes first. */
const MEMORY_MIN_MIB = 8;
const MEMORY_MAX_MIB = 128;

/** [sandbox], [scripts] and [hooks]. */
export const SANDBOX_SECTION: Section<SandboxSettings> = {
  keys: {
    "sandbox.level": "string",
    "scripts.runtime": "string",
    "scripts.deno": "string",
    "hooks.kills_allowed": "number",
    "hooks.kill_window_seconds": "number",
    "hooks.commands_without_sandbox": "boolean",
    "hooks.processes": "number",
    "hooks.memory_mib": "number",
  },
  check: (values) =>
    checkChoice(values, "sandbox.level", "auto", "none") ??
    checkChoice(values, "scripts.runtime", "isolate", "deno") ??
    checkDeno(values) ??
    checkNotZero(values, ["hooks.kills_allowed", "hooks.kill_window_seconds", "hooks.processes"]) ??
    checkHeap(values),
  read: (values) => ({
    sandbox: textOf(values, "sandbox.level") === "none" ? "none" : "auto",
    scripts: {
      runtime: textOf(values, "scripts.runtime") === "deno" ? "deno" : "isolate",
      deno: textOf(values, "scripts.deno") || "deno",
    },
    hooks: {
      killsAllowed: numberOf(values, "hooks.kills_allowed", KILLS_ALLOWED),
      killWindowMs: numberOf(values, "hooks.kill_window_seconds", KILL_WINDOW_SECONDS) * 1000,
      commandsWithoutSandbox: values.get("hooks.commands_without_sandbox") === true,
      processes: numberOf(values, "hooks.processes", ISOLATE_LIMITS.hostsMax),
      memoryMib: numberOf(values, "hooks.memory_mib", ISOLATE_LIMITS.memoryMib),
    },
  }),
};

function checkChoice(values: Values, key: string, one: string, other: string): WrongValue | undefined {
  const value = values.get(key);
  if (value === undefined || value === one || value === other) return undefined;
  return { key, what: `must be "${one}" or "${other}", not ${JSON.stringify(value)}` };
}

function checkDeno(values: Values): WrongValue | undefined {
  const deno = values.get("scripts.deno");
  if (typeof deno !== "string" || (deno !== "" && (!deno.includes("/") || isAbsolute(deno)))) return undefined;
  return { key: "scripts.deno", what: `must be a program's name or absolute path, not ${JSON.stringify(deno)}` };
}

function checkHeap(values: Values): WrongValue | undefined {
  const memoryMib = values.get("hooks.memory_mib");
  if (typeof memoryMib !== "number" || (memoryMib >= MEMORY_MIN_MIB && memoryMib <= MEMORY_MAX_MIB)) return undefined;
  return { key: "hooks.memory_mib", what: `must be from ${MEMORY_MIN_MIB} to ${MEMORY_MAX_MIB}, not ${memoryMib}` };
}
