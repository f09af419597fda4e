import { createHash } from "node:crypto";
import { chmod, mkdir, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The longest path that every system takes for a unix socket, bytes. */
const SOCKET_PATH_LIMIT_BYTES = 100;

/** Where everything lies. */
export type Home = {
  readonly dir: string;
  readonly sessions: string;
  readonly hooks: string;
  readonly plugins: string;
  /** What plugins wrote that is too large for a message. */
  readonly artifacts: string;
  readonly grants: string;
  /** Keys for plugins of other machines, who they are, and what they bring. */
  readonly remote: string;
  /** What plugins offered when they ran last. */
  readonly offers: string;
  /** Folders of the servers of the Model Context Protocol. */
  readonly mcp: string;
  readonly memory: string;
  /** Journals of the named indices of vectors. */
  readonly vectors: string;
  readonly tokenFile: string;
  /** The gateway's socket. */
  readonly socket: string;
  /** Short private folder for plugins' sockets. */
  readonly runtime: string;
};

/** `runtimeDir` is $XDG_RUNTIME_DIR or empty. */
export function homeAt(folder: string, runtimeDir: string): Home {
  const dir = resolve(folder);
  const digest = createHash("sha256").update(dir).digest("hex").slice(0, 12);
  const short = runtimeDir === "" ? tmpdir() : runtimeDir;
  const socket = join(dir, "clawd.sock");
  return {
    dir,
    sessions: join(dir, "sessions"),
    hooks: join(dir, "hooks"),
    plugins: join(dir, "plugins"),
    artifacts: join(dir, "artifacts"),
    grants: join(dir, "grants"),
    remote: join(dir, "remote"),
    offers: join(dir, "offers"),
    mcp: join(dir, "mcp"),
    memory: join(dir, "memory"),
    vectors: join(dir, "vectors"),
    tokenFile: join(dir, "token"),
    socket: Buffer.byteLength(socket) <= SOCKET_PATH_LIMIT_BYTES ? socket : join(short, `clawd-${digest}.sock`),
    runtime: join(short, `clawd-${digest}`),
  };
}

/** Makes the folders that are missing, for the owner alone. Throws what the file system says. */
export async function makeHome(home: Home): Promise<void> {
  await mkdir(home.dir, { recursive: true, mode: 0o700 });
  await chmod(home.dir, 0o700);
  for (const folder of [home.sessions, home.hooks, home.plugins, home.grants]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
}

/** Takes away the folder for sockets, unless something is left in it. To be called as long as the home is this daemon's. */
export async function removeRuntime(home: Home): Promise<void> {
  await rmdir(home.runtime).catch(() => undefined);
}
