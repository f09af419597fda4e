import { resolve } from "node:path";
import type { Arguments } from "./args.ts";
import type { Context } from "./command.ts";
import { escapeControls, escapeLine } from "./escape.ts";
import { nearest } from "./nearest.ts";
import { fail, ok, type Result } from "./trouble.ts";

const KINDS = ["read", "write", "net", "env", "run", "sys", "tool", "memory"];
/** Kinds of Deno that nobody can grant here, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  all: "nothing would be confined",
  ffi: "native code is outside every confinement",
  import:
    "a script is made of files in its own folder, and with --runtime=deno modules come from where --allow-net says",
};
const TIME_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** The wire's largest number. */
const NUMBER_MAX = 2 ** 32 - 1;

type Permissions = { readonly allow: readonly string[]; readonly deny: readonly string[] };
type Limits = { readonly timeLimitMs: number; readonly memoryLimitMib: number };

/** What the flags of a command line say of every file that it runs. */
export type ScriptWish = {
  readonly allow: string[];
  readonly deny: string[];
  readonly folder: string;
  readonly attended: boolean;
  readonly timeLimitMs: number;
  readonly memoryLimitMib: number;
  readonly runtime: string;
  readonly importMap: string;
  readonly terminals: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
};

/** Reads the flags that `claw run` and `claw test` have in common. */
export function readScriptWish(context: Context, args: Arguments): Result<ScriptWish> {
  const permissions = readPermissions(args.open);
  if (!permissions.ok) return permissions;
  const limits = readLimits(args);
  if (!limits.ok) return limits;
  const { screen, folder } = context;
  const importMap = args.text("import-map");
  return ok({
    allow: [...permissions.value.allow],
    deny: [...permissions.value.deny],
    folder,
    attended: context.attended && !args.on("no-prompt"),
    ...limits.value,
    runtime: args.text("runtime") ?? "",
    importMap: importMap === undefined ? "" : resolve(folder, importMap),
    terminals: {
      stdin: context.inputIsTerminal,
      stdout: screen.dataIsTerminal,
      stderr: screen.notesAreTerminal,
    },
  });
}

/** "allow-read=./data" → "read=./data" among the allowed; "allow-read" alone means all of the kind. */
function readPermissions(flags: readonly string[]): Result<Permissions> {
  const allow: string[] = [];
  const deny: string[] = [];
  for (const flag of flags) {
    const [, verdict = "", kind = "", value = ""] = /^(allow|deny)-([^=]*)(=.*)?$/s.exec(flag) ?? [];
    const why = Object.hasOwn(REFUSED, kind) ? REFUSED[kind] : undefined;
    if (why !== undefined) {
      const hint = `name what the script needs, as in --allow-read=./data; there are: ${KINDS.join(" ")}`;
      return fail("usage", `--${verdict}-${kind} is not offered: ${why}`, hint);
    }
    if (!KINDS.includes(kind)) {
      const close = nearest(kind, KINDS);
      const hint = close === undefined ? `there are: ${KINDS.join(" ")}` : `did you mean --${verdict}-${close}?`;
      return fail("usage", `there is no permission "${escapeControls(kind)}" in --${escapeControls(flag)}`, hint);
    }
    if (value === "=") return fail("usage", `--${flag} names nothing`, `write --${verdict}-${kind} to mean all`);
    (verdict === "allow" ? allow : deny).push(`${kind}${value}`);
  }
  return ok({ allow, deny });
}

function readLimits(args: Arguments): Result<Limits> {
  const time = args.text("time-limit");
  const memory = args.text("memory-limit");
  const timeLimitMs = time === undefined ? 0 : readDuration(time);
  if (timeLimitMs === undefined)
    return fail(
      "usage",
      `--time-limit=${escapeLine(time ?? "")} is no length of time`,
      "write it as 500ms, 60s, 5m or 1h",
    );
  const memoryLimitMib = memory === undefined ? 0 : readPositive(memory);
  if (memoryLimitMib === undefined)
    return fail("usage", `--memory-limit=${escapeLine(memory ?? "")} is no number of MiB`, "write it as 128");
  return ok({ timeLimitMs, memoryLimitMib });
}

function readDuration(text: string): number | undefined {
  const [, number = "", unit = "s"] = /^(\d+)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Number(number) * (TIME_UNITS_MS[unit] ?? 0);
  return ms > 0 && ms <= NUMBER_MAX ? ms : undefined;
}

function readPositive(text: string): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number > 0 && number <= NUMBER_MAX ? number : undefined;
}
