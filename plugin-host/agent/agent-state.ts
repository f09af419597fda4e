import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { readOwnFile, writeOwnFile } from "../remote/own-file.ts";

const LOCK_FILE = "agent.lock";
/** Where the sockets of whoever holds the lock are, so that the next one finds what a killed one left. */
const RUNTIME_FILE = "runtime-dir";
const RUNTIME_PREFIX = "clawd-agent-";
const SQLITE_BUSY = 5;

/** A state folder that this process alone uses, until `release` or until the process is no more. */
export type AgentState = {
  /** For sockets: fresh, private and short. */
  readonly runtimeDir: string;
  /** Gives the folder back, and removes the one for sockets. */
  release(): void;
};

/**
 * Takes a state folder, which is made when missing; `conflict` when another agent has it. The lock is the kernel's, on an open file,
 * through SQLite: it goes with the process however that ends. What a killed agent left in the temporary folder is removed.
 */
export async function takeState(stateDir: string, temporaryDir: string): Promise<Result<AgentState>> {
  const locked = lock(stateDir);
  if (!locked.ok) return locked;
  const note = join(stateDir, RUNTIME_FILE);
  try {
    const left = (await readOwnFile(note))?.trim() ?? "";
    if (isAbsolute(left) && basename(left).startsWith(RUNTIME_PREFIX)) await removeTree(left);
    const runtimeDir = mkdtempSync(join(temporaryDir, RUNTIME_PREFIX));
    await writeOwnFile(note, `${runtimeDir}\n`);
    return ok({
      runtimeDir,
      release() {
        rmSync(runtimeDir, { recursive: true, force: true });
        locked.value.close();
      },
    });
  } catch (cause) {
    locked.value.close();
    return unusable(stateDir, cause);
  }
}

function lock(stateDir: string): Result<DatabaseSync> {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    database = new DatabaseSync(join(stateDir, LOCK_FILE), { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
    return ok(database);
  } catch (cause) {
    database?.close();
    if (!isBusy(cause)) return unusable(stateDir, cause);
    return fail("conflict", `another agent runs with its state in ${stateDir}`, {
      hint: "use that one or end it, or give this one another folder: --state DIR",
    });
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY;
}

function unusable(stateDir: string, cause: unknown): Result<never> {
  const because = cause instanceof Error ? cause.message : String(cause);
  return fail("unavailable", `the state folder ${stateDir} cannot be used: ${because}`, {
    hint: "look at the free space and at the rights of that folder",
    cause,
  });
}
