import { type Failed, type Failure, fail } from "../domain/failure.ts";
import type { Flaw } from "./chain-reader.ts";

const DISK_FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const NO_HANDLES = new Set(["EMFILE", "ENFILE"]);

export function errorCode(cause: unknown): string {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
}

export function isDiskFull(cause: unknown): boolean {
  return DISK_FULL.has(errorCode(cause));
}

/** Translates what the system said about a journal's file; `doing` reads like "open" or "write to". */
export function diskFault(doing: string, path: string, cause: unknown): Failure {
  const code = errorCode(cause);
  const because = cause instanceof Error ? cause.message : String(cause);
  if (code === "ENOENT") return missing(path);
  if (DISK_FULL.has(code)) return diskFull(path, cause);
  if (NO_HANDLES.has(code)) {
    const hint = "close something, or raise the limit on open files";
    return { code: "exhausted", message: `could not ${doing} ${path}: too many files are open`, hint, cause };
  }
  const hint =
    code === "ELOOP" || code === "EINVAL" ? "a journal is a regular file" : "check the disk and the folder's owner";
  return { code: "unavailable", message: `could not ${doing} ${path}: ${because}`, hint, cause };
}

export function diskFull(path: string, cause: unknown): Failure {
  const message = `the disk has no room for more in ${path}; the journal is as it was before`;
  return { code: "exhausted", message, hint: "free some disk space and try again", cause };
}

/** The disk broke a promise: what is on it past the last durable line is anyone's guess. */
export function closedForGood(path: string, doing: string, cause: unknown): Failure {
  const because = cause instanceof Error ? cause.message : String(cause);
  return {
    code: "unavailable",
    message: `the journal ${path} is closed: could not ${doing} it (${because}), so nobody knows what the disk holds`,
    hint: "check the disk, then restart the daemon; everything acknowledged so far can still be read",
    cause,
  };
}

export function missing(path: string): Failure {
  return {
    code: "not_found",
    message: `there is no journal ${path}`,
    hint: "create it first, or check the session's id",
  };
}

export function missingFolder(dir: string): Failure {
  return {
    code: "not_found",
    message: `the folder of the journals, ${dir}, is gone`,
    hint: "put it back, or restart the daemon: it makes an empty one",
  };
}

export function journalClosed(path: string): Failure {
  return {
    code: "unavailable",
    message: `the journal ${path} is closed: the daemon is stopping`,
    hint: "start it again",
  };
}

export function changedByHand(path: string): Failure {
  const message = `${path} was changed by another program`;
  return { code: "conflict", message, hint: "read the session again, then decide again" };
}

export function corrupt(path: string, flaw: Flaw): Failure {
  const line = flaw.at.seq + 1;
  return {
    code: "corrupt",
    message: `${path} is broken at line ${line}: ${flaw.because}`,
    hint: `put back a good copy of the file, or give up the rest: keep its first ${flaw.at.seq} lines`,
  };
}

export function unreadable(path: string, seq: number, cause: unknown): Failure {
  const because = cause instanceof Error ? cause.message : String(cause);
  return {
    code: "corrupt",
    message: `${path} has an event at line ${seq} that this version cannot read: ${because}`,
    hint: "the file itself is whole; run the version of clawd that wrote it",
    cause,
  };
}

export function wrongSeq(sessionId: string, expectedSeq: number, seq: number): Failed {
  return fail("conflict", `session ${sessionId} is at event ${seq}, not ${expectedSeq}; nothing was written`, {
    hint: "read the events you have not seen, then decide again",
  });
}
