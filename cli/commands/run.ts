import { basename, resolve } from "node:path";
import { ScriptService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { nearest } from "../nearest.ts";
import { openScriptQuestions } from "../script-questions.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";

const KINDS = ["read", "write", "net", "env", "run", "sys", "tool", "memory"];
/** Kinds of Deno that nobody can grant here, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  all: "nothing would be confined",
  ffi: "native code is outside every confinement",
  import: "a script is made of files in its own folder",
};
const TIME_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** The wire's largest number. */
const NUMBER_MAX = 2 ** 32 - 1;

type Permissions = { readonly allow: readonly string[]; readonly deny: readonly string[] };
type Limits = { readonly timeLimitMs: number; readonly memoryLimitMib: number };

/** `claw run FILE`: the script's own exit code, and its own streams. */
export async function run(context: Context, args: Arguments): Promise<number> {
  const permissions = readPermissions(args.open);
  if (!permissions.ok) return context.report(permissions.trouble);
  const limits = readLimits(args);
  if (!limits.ok) return context.report(limits.trouble);
  const file = resolve(context.folder, args.positionals[0] ?? "");
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const end = new AbortController();
    const stopHearing = context.onInterrupt(() => end.abort());
    const questions = openScriptQuestions(context, daemon, escapeLine(basename(file)), () => end.abort());
    const request = {
      file,
      args: [...args.tail],
      allow: [...permissions.value.allow],
      deny: [...permissions.value.deny],
      folder: context.folder,
      attended: context.attended && !args.on("no-prompt"),
      ...limits.value,
    };
    try {
      for await (const item of daemon.stream(ScriptService.method.runScript, request, end.signal)) {
        if (!item.ok) return context.report(item.trouble);
        const { news } = item.value;
        if (news.case === "stdout") screen.data(news.value);
        if (news.case === "stderr") screen.errorText(news.value);
        if (news.case === "question") questions.asked(news.value);
        if (news.case === "exitCode") return news.value;
      }
    } finally {
      questions.close();
      stopHearing();
    }
    if (end.signal.aborted) return EXIT.interrupted;
    return context.report(
      fail("failed", "the script's stream ended without an exit code", "claw doctor looks for the cause").trouble,
    );
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
