import { resolve } from "node:path";
import { ScriptService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls } from "../escape.ts";
import { nearest } from "../nearest.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";

const KINDS = ["read", "write", "net", "env", "run", "sys", "tool", "memory"];

type Permissions = { readonly allow: readonly string[]; readonly deny: readonly string[] };

/** `claw run FILE`: the script's own exit code, and its own streams. */
export async function run(context: Context, args: Arguments): Promise<number> {
  const permissions = readPermissions(args.open);
  if (!permissions.ok) return context.report(permissions.trouble);
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const end = new AbortController();
    const stopHearing = context.onInterrupt(() => end.abort());
    const request = {
      file: resolve(context.folder, args.positionals[0] ?? ""),
      args: [...args.tail],
      allow: [...permissions.value.allow],
      deny: [...permissions.value.deny],
      folder: context.folder,
    };
    try {
      for await (const item of daemon.stream(ScriptService.method.runScript, request, end.signal)) {
        if (!item.ok) return context.report(item.trouble);
        const { news } = item.value;
        if (news.case === "stdout") screen.data(news.value);
        if (news.case === "stderr") screen.errorText(news.value);
        if (news.case === "exitCode") return news.value;
      }
    } finally {
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
