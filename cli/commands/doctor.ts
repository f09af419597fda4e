import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DaemonService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { escapeControls } from "../escape.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, errorCode, type Result, thrownText } from "../trouble.ts";

/** One thing that was looked at; `fix` is empty when nothing has to be done. */
type Check = { readonly name: string; readonly ok: boolean; readonly found: string; readonly fix: string };

/** Where what was found begins: behind the mark and the name. */
const FOUND_INDENT = 13;

/** `claw doctor`: exit 1 when something has to be mended. Works without a daemon: then that is what it reports. */
export async function doctor(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  screen.spin("looking");
  const remote = await askDaemon(context);
  // Without a daemon these are looked at from here; a running daemon sees them better.
  const checks: readonly Check[] = remote.ok
    ? [{ name: "daemon", ok: true, found: `answers on ${context.plan.socketPath}`, fix: "" }, ...remote.value]
    : [
        { name: "daemon", ok: false, found: remote.trouble.message, fix: remote.trouble.hint ?? "" },
        checkNode(),
        await checkHome(context.plan.home),
        await checkConfig(context.plan.home),
      ];
  screen.rest();
  for (const check of checks) {
    if (args.on("json")) printJson(screen, check);
    else printCheck(context, check);
  }
  return checks.every((check) => check.ok) ? EXIT.done : EXIT.failed;
}

async function askDaemon(context: Context): Promise<Result<readonly Check[]>> {
  const dialled = await context.dial();
  if (!dialled.ok) return dialled;
  try {
    const answer = await dialled.value.call(DaemonService.method.doctor, {});
    return answer.ok ? { ok: true, value: answer.value.checks } : answer;
  } finally {
    dialled.value.close();
  }
}

function printCheck({ screen }: Context, check: Check): void {
  const mark = check.ok ? screen.paintData("green", "✓") : screen.paintData("red", "✗");
  const name = screen.paintData("bold", check.name.padEnd(FOUND_INDENT - 2));
  const place = "".padEnd(FOUND_INDENT);
  const found = screen.wrapData(`${place}${escapeControls(check.found)}`, FOUND_INDENT).trimStart();
  screen.layout(`${mark} ${name}${found}\n`);
  if (check.fix === "") return;
  const fix = escapeControls(check.fix).replaceAll("\n", `\n${place}  `);
  screen.layout(`${screen.wrapData(`${place}→ ${fix}`, FOUND_INDENT + 2)}\n`);
}

/** An older Node than the program needs does not come this far: the entry sees to that. */
function checkNode(): Check {
  return { name: "node", ok: true, found: process.version, fix: "" };
}

async function checkHome(home: string): Promise<Check> {
  const name = "home";
  try {
    const { mode, uid } = await stat(home);
    if (process.getuid !== undefined && uid !== process.getuid()) {
      return {
        name,
        ok: false,
        found: `${home} belongs to user ${uid}`,
        fix: "set CLAWD_HOME to a folder of your own",
      };
    }
    const open = (mode & 0o077) !== 0;
    return open
      ? { name, ok: false, found: `${home} can be entered by others`, fix: `chmod 700 ${home}` }
      : { name, ok: true, found: `${home}, for its owner alone`, fix: "" };
  } catch (cause) {
    return { name, ok: false, found: thrownText(cause), fix: "claw init makes the folder" };
  }
}

async function checkConfig(home: string): Promise<Check> {
  const name = "config";
  const file = join(home, "config.toml");
  const { parse, TomlError } = await import("smol-toml");
  try {
    parse(await readFile(file, "utf8"));
    return { name, ok: true, found: `${file} can be read`, fix: "" };
  } catch (cause) {
    if (errorCode(cause) === "ENOENT")
      return { name, ok: true, found: "there is no config.toml: the defaults hold", fix: "" };
    if (!(cause instanceof TomlError))
      return { name, ok: false, found: thrownText(cause), fix: `make ${file} readable` };
    const reason = cause.message.split("\n", 1)[0] ?? "";
    return { name, ok: false, found: `${file} line ${cause.line}: ${reason}`, fix: "mend the line" };
  }
}
