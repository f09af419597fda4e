import { join, resolve } from "node:path";

/** Environment variables, as a plain value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A socket path longer than this may not fit into `sockaddr_un` (108 bytes on Linux, 104 on macOS). */
const SOCKET_PATH_LIMIT_BYTES = 100;
const DIGEST_LENGTH = 12;

/** The data folder: `$CLAWD_HOME`, by default `~/.clawd`. */
export function findHome(env: Environment, userHome: string): string {
  const named = env.CLAWD_HOME ?? "";
  return named === "" ? join(userHome, ".clawd") : resolve(named);
}

/** Where the daemon of a data folder listens. The daemon computes the same path from the same facts. */
export function findSocket(home: string, env: Environment, temporaryFolder: string): string {
  const path = join(home, "clawd.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_LIMIT_BYTES) return path;
  const digest = process.getBuiltinModule("node:crypto").createHash("sha256").update(home).digest("hex");
  const runtime = env.XDG_RUNTIME_DIR ?? "";
  return join(runtime === "" ? temporaryFolder : runtime, `clawd-${digest.slice(0, DIGEST_LENGTH)}.sock`);
}

/**
 * The folder that relative paths start from. npm moves a script to the package's own folder and keeps the caller's in
 * `INIT_CWD`; anywhere else `INIT_CWD` is a leftover of some outer npm and would be the wrong folder.
 */
export function findCallerFolder(env: Environment, currentFolder: string, packageRoot: string): string {
  const initial = env.INIT_CWD ?? "";
  return initial !== "" && currentFolder === packageRoot ? resolve(initial) : currentFolder;
}
