import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { CONFIG_TEMPLATE } from "../config-template.ts";
import { escapeLine } from "../escape.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, errorCode, fail, thrownText } from "../trouble.ts";

/** Folders that a person puts things into. */
const FOLDERS = ["hooks", "plugins"];

/** `claw init`: makes the data folder and a config to edit. What is there stays as it is. */
export async function init(context: Context, args: Arguments): Promise<number> {
  const { home } = context.plan;
  const config = join(home, "config.toml");
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    for (const folder of FOLDERS) await mkdir(join(home, folder), { recursive: true, mode: 0o700 });
    const written = await writeNew(config);
    if (args.on("json")) printJson(context.screen, { home, config, written });
    else context.screen.note(`${written ? "wrote" : "kept"} ${escapeLine(config)}`);
    return EXIT.done;
  } catch (cause) {
    const hint = "set CLAWD_HOME to a folder that you may write to";
    return context.report(fail("failed", `cannot set up ${home}: ${thrownText(cause)}`, hint).trouble);
  }
}

async function writeNew(file: string): Promise<boolean> {
  try {
    // It may come to hold keys: for the owner alone, and never over what is there.
    await writeFile(file, CONFIG_TEMPLATE, { flag: "wx", mode: 0o600 });
    return true;
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") return false;
    throw cause;
  }
}
