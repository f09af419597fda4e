import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DialPlan } from "./dial.ts";
import { errorCode, fail, ok, type Result, thrownText } from "./trouble.ts";

const LOG_TAIL_LINES = 12;
const LOG_TAIL_BYTES = 16 * 1024;

/**
 * Node's options for the daemon. Left alone, the engine lets fresh objects take up to a hundred megabytes before it sweeps
 * them; and each start of a child copies the page tables of all that, which holds the daemon up by ten milliseconds for a hundred megabytes.
 */
export const DAEMON_OPTIONS = ["--max-semi-space-size=8"] as const;

export type SpawnedDaemon = {
  /** How and when (`performance.now()`) it ended; undefined while it runs. */
  exited(): { readonly how: string; readonly atMs: number } | undefined;
  /** True when another living process says that it is the daemon of this data folder. */
  hasRival(): boolean;
  /** The last lines that were logged since this start; empty when there are none. */
  tailLog(): Promise<string>;
};

/** Starts the daemon as its own process, which outlives this one. It logs to `$CLAWD_HOME/clawd.log`. */
export async function spawnDaemon(plan: DialPlan): Promise<Result<SpawnedDaemon>> {
  const logFile = join(plan.home, "clawd.log");
  try {
    await makeFolder(plan.home);
    const log = await open(logFile, "a", 0o600);
    try {
      await chmod(logFile, 0o600);
      const sizeBefore = (await log.stat()).size;
      const child = spawn(plan.nodeBinary, [...DAEMON_OPTIONS, plan.daemonFile], {
        // The daemon keeps no folder busy that a person may want to delete or unmount.
        cwd: plan.home,
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        env: { ...plan.env, CLAWD_HOME: plan.home },
      });
      let exited: { how: string; atMs: number } | undefined;
      const note = (how: string): void => {
        exited ??= { how, atMs: performance.now() };
      };
      child.once("error", (cause) => note(thrownText(cause)));
      child.once("exit", (code, signal) => note(signal ?? `exit code ${code}`));
      child.unref();
      return ok({
        exited: () => exited,
        hasRival: () => namesLivingProcess(join(plan.home, "clawd.pid")),
        tailLog: () => readTail(logFile, sizeBefore),
      });
    } finally {
      await log.close();
    }
  } catch (cause) {
    const hint = "set CLAWD_HOME to a folder that you may write to";
    return fail("unreachable", `cannot start a daemon in ${plan.home}: ${thrownText(cause)}`, hint);
  }
}

/** Node's own recursive form never ends where the parent is there and takes no folders, as /proc is. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") return;
    const parent = dirname(folder);
    if (errorCode(cause) !== "ENOENT" || existsSync(parent)) throw cause;
    await makeFolder(parent);
    await makeFolder(folder);
  }
}

function namesLivingProcess(pidFile: string): boolean {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false; // No file, or nobody of that id.
  }
}

async function readTail(file: string, from: number): Promise<string> {
  try {
    const handle = await open(file, "r");
    try {
      const { size } = await handle.stat();
      const start = Math.max(from, size - LOG_TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, size - start)), 0, null, start);
      return buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
    } finally {
      await handle.close();
    }
  } catch {
    return ""; // The failure that this was meant to explain is told anyway.
  }
}
