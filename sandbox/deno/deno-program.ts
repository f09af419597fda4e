import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { programPath } from "../broker/ground-grant.ts";
import type { Launcher } from "../os/launcher.ts";

/** The first whose questions name their process and whose refusals have a reason. */
const OLDEST_VERSION = [2, 6, 0] as const;
const VERSION_LIMIT_MS = 10_000;
const OUTPUT_LIMIT_CHARS = 4096;
const INSTALL_HINT = 'install Deno (https://docs.deno.com/runtime/), or name it: [scripts] deno = "/path/to/deno"';

/**
 * Finds a Deno that has a permission broker. Fails with `not_found` where there is none, and `unavailable` where it is too
 * old or does not start.
 * @param wanted a name to look for in `searchPath`, or an absolute path
 */
export async function findDeno(launcher: Launcher, wanted: string, searchPath: string): Promise<Result<string>> {
  const path = await programPath(wanted, searchPath);
  if (path === undefined) return fail("not_found", `there is no Deno: ${wanted} was not found`, { hint: INSTALL_HINT });
  const said = await askVersion(launcher, path);
  const found = /^deno (\d+)\.(\d+)\.(\d+)/m.exec(said);
  if (!found) return fail("unavailable", `${path} does not say which version of Deno it is`, { hint: INSTALL_HINT });
  const version = found.slice(1).map(Number);
  if (isOlder(version)) {
    const oldest = OLDEST_VERSION.join(".");
    const message = `${path} is Deno ${version.join(".")}, which is too old: it takes ${oldest} or newer to be asked for every permission`;
    return fail("unavailable", message, { hint: "update it with: deno upgrade" });
  }
  return ok(path);
}

function isOlder(version: readonly number[]): boolean {
  for (const [index, oldest] of OLDEST_VERSION.entries()) {
    const found = version[index] ?? 0;
    if (found !== oldest) return found < oldest;
  }
  return false;
}

/** What it prints, or nothing. */
async function askVersion(launcher: Launcher, path: string): Promise<string> {
  let said = "";
  try {
    const child = launcher.launch({
      command: [path, "--version"],
      cwd: "/tmp",
      env: { HOME: "/tmp", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      confinement: { read: [], write: [], network: "none", system: "libraries" },
      limits: {},
      pipes: 0,
    });
    const timer = setTimeout(child.kill, VERSION_LIMIT_MS);
    child.stdin.end();
    child.stderr.resume();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(0, OUTPUT_LIMIT_CHARS);
    });
    await Promise.all([child.exited, new Promise((resolve) => child.stdout.once("close", resolve))]);
    clearTimeout(timer);
  } catch {
    return ""; // it cannot be started, and that is what its silence is told as
  }
  return said;
}
