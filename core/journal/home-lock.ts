import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fail, ok, type Result } from "../domain/failure.ts";
import { errorCode } from "./journal-fault.ts";

/** Held by this process until `release`, or until the process is no more. */
export type HomeLock = { release(): void };

const LOCK_FILE = "clawd.lock";
const PID_FILE = "clawd.pid";
const SQLITE_BUSY = 5;

/** How long a loser of the race waits for the winner to write its pid, milliseconds. */
const PID_WAIT_MS = 500;
const PID_POLL_MS = 10;

/**
 * Makes this process the only daemon of a data folder, which is made when missing; `pid` is named to whoever comes
 * second (`conflict`). The lock is the kernel's own, on an open file, through SQLite, because Node cannot lock files by
 * itself: it vanishes with the process however that ends, so there is no stale lock. The pid file is only for the
 * message.
 */
export function lockHome(home: string, pid: number): Result<HomeLock> {
  const path = join(home, LOCK_FILE);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    touchPrivately(path);
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database?.close();
    if (isBusy(cause)) return inUse(home);
    const because = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `could not lock the data folder ${home}: ${because}`, {
      hint: `check who owns the folder; ${LOCK_FILE} in it may be deleted when no clawd runs`,
      cause,
    });
  }
  return ok(heldLock(home, pid, database));
}

/** SQLite would make the file readable by everyone. One that is there is not touched: closing it would drop our lock. */
function touchPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

function heldLock(home: string, pid: number, database: DatabaseSync): HomeLock {
  const path = join(home, PID_FILE);
  try {
    writeFileSync(`${path}.new`, `${pid}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // On a full disk the lock holds all the same; only its message will not know the pid.
    rmSync(path, { force: true });
  }
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(path, { force: true });
      database.close();
    },
  };
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY;
}

function inUse(home: string): Result<HomeLock> {
  const pid = waitForPid(join(home, PID_FILE));
  return fail("conflict", `${home} is in use by clawd with pid ${pid ?? "unknown"}`, {
    hint: "use that one, stop it with `claw down`, or give this one another CLAWD_HOME",
  });
}

/** The winner locks first and writes its pid then, so for a moment there is none, or that of a process long gone. */
function waitForPid(path: string): number | undefined {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += PID_POLL_MS) {
    const pid = readPid(path);
    if (pid !== undefined && isAlive(pid)) return pid;
    if (waitedMs >= PID_WAIT_MS) return undefined;
    Atomics.wait(clock, 0, 0, PID_POLL_MS);
  }
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
