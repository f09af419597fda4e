import { resolve } from "node:path";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { readScriptWish } from "../script-request.ts";
import { runScript } from "../script-run.ts";
import { EXIT } from "../trouble.ts";

/** `claw run FILE`: the script's own exit code, and its own streams. */
export async function run(context: Context, args: Arguments): Promise<number> {
  const wish = readScriptWish(context, args);
  if (!wish.ok) return context.report(wish.trouble);
  const file = resolve(context.folder, args.positionals[0] ?? "");
  return withDaemon(context, async (daemon) => {
    const ended = await runScript(context, daemon, { ...wish.value, file, args: [...args.tail] }, () => {});
    if (!ended.ok) return context.report(ended.trouble);
    return ended.value ?? EXIT.interrupted;
  });
}
