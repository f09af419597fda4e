import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";
import { DEFAULT_CONFIG, type LoadedConfig, parseConfig } from "./config.ts";

export const CONFIG_FILE = "config.toml";
const LAST_GOOD = "config.last-good.toml";

/**
 * Reads `config.toml` of a data folder. A broken file is a problem that names line and key, and the last file that was
 * good is used in its place; a missing file means the defaults. Keys that nobody knows are problems and nothing else.
 */
export async function loadConfig(home: string): Promise<LoadedConfig> {
  const text = await readText(join(home, CONFIG_FILE));
  const parsed = text.ok ? parseConfig(text.value ?? "", join(home, CONFIG_FILE)) : text;
  if (parsed.ok) {
    if (text.ok && text.value !== undefined) await keepLastGood(home, text.value);
    return parsed.value;
  }
  const lastGood = await readText(join(home, LAST_GOOD));
  const kept = lastGood.ok ? lastGood.value : undefined;
  const inForce = kept === undefined ? "the defaults are in force" : "the last good one is in force";
  const problem = { ...parsed.failure, message: `${parsed.failure.message}; ${inForce}` };
  const fallback = parseConfig(kept ?? "", join(home, LAST_GOOD));
  const config = fallback.ok ? fallback.value.config : DEFAULT_CONFIG;
  return { config, problems: [problem] };
}

/** The text of a file; undefined when there is none. */
async function readText(file: string): Promise<Result<string | undefined>> {
  try {
    return ok(await readFile(file, "utf8"));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    if (code === "ENOENT") return ok(undefined);
    return fail("unavailable", `${file} cannot be read: ${code}`, { hint: "mend its permissions", cause });
  }
}

async function keepLastGood(home: string, text: string): Promise<void> {
  const kept = await readText(join(home, LAST_GOOD));
  if (kept.ok && kept.value === text) return;
  const temporary = join(home, `${LAST_GOOD}.new`);
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, join(home, LAST_GOOD));
  } catch {
    // A full or read-only disk: the copy is a convenience, and the journals will say what is wrong with the disk.
  }
}
