import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attemptEscape, type EscapeAttempt, type EscapeTargets } from "./escape-attempts.ts";
import type { Launcher, LaunchSpec } from "./launcher.ts";

/** What one kind of child could do although it must not. */
export type EscapeTrial = {
  /** The kind of child: "a plugin", "a hook host". */
  readonly prisoner: string;
  readonly attempts: readonly EscapeAttempt[];
};

const TRIAL_LIMIT_MS = 10_000;
/** After the head of a tree has ended, how long the rest of it may take to be gone. */
const TREE_END_LIMIT_MS = 2_000;
const HOST_MEMORY_MIB = 1600;
const OPEN_FILES = 64;
const OUTPUT_LIMIT_CHARS = 64 * 1024;

/** The walls that plugins and hook hosts live behind, each with nothing granted. */
function prisoners(nodeBinary: string, targets: EscapeTargets): readonly { name: string; spec: LaunchSpec }[] {
  const spec = (flags: readonly string[], tooMuchMib: number): Omit<LaunchSpec, "confinement" | "limits"> => ({
    command: [nodeBinary, ...flags, "-e", `(${attemptEscape})(${JSON.stringify({ ...targets, tooMuchMib })})`],
    cwd: "/tmp",
    env: {},
    pipes: 1,
  });
  const sees = { read: [nodeBinary], write: [], network: "none", system: "libraries" } as const;
  return [
    { name: "a plugin", spec: { ...spec([], 0), confinement: sees, limits: {} } },
    {
      name: "a hook host",
      spec: {
        ...spec(["--jitless", "--no-node-snapshot"], HOST_MEMORY_MIB * 2),
        confinement: { ...sees, syscalls: "isolate" },
        limits: { addressSpaceMib: HOST_MEMORY_MIB, openFiles: OPEN_FILES, fileMib: 0 },
      },
    },
  ];
}

/**
 * Proves the walls by trying to get over them: starts the kinds of children that strangers' code runs in and has each try
 * what it must not be able to do. Takes about half a second. Never rejects.
 * @param pid the daemon's own process
 */
export async function tryToEscape(
  launcher: Launcher,
  nodeBinary: string,
  pid: number,
): Promise<readonly EscapeTrial[]> {
  const folder = await mkdtemp(join(tmpdir(), "clawd-trial-"));
  const socket = join(folder, "trial.sock");
  const file = join(folder, "secret");
  const servers = [createServer(), createServer()] as const;
  try {
    await writeFile(file, "out of reach");
    const port = await listen(servers[0], { port: 0, host: "127.0.0.1" });
    await listen(servers[1], { path: socket });
    const targets: EscapeTargets = { file, folder, socket, port, pid, tooMuchMib: 0 };
    const trials = prisoners(nodeBinary, targets).map(async ({ name, spec }) => ({
      prisoner: name,
      attempts: await watchPrisoner(launcher, spec),
    }));
    return await Promise.all(trials);
  } finally {
    for (const server of servers) server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function listen(server: Server, at: { port: number; host: string } | { path: string }): Promise<number> {
  // Whoever gets through is hung up on: that it got through is what the prisoner reports.
  server.on("connection", (connection) => connection.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function watchPrisoner(launcher: Launcher, spec: LaunchSpec): Promise<readonly EscapeAttempt[]> {
  try {
    const child = launcher.launch(spec);
    const [pipe] = child.pipes;
    const treeGone = new Promise<boolean>((resolve) => pipe?.resume().once("close", () => resolve(true)));
    let said = "";
    child.stdin.end();
    child.stderr.resume();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(0, OUTPUT_LIMIT_CHARS);
    });
    const limit = setTimeout(() => child.kill(), TRIAL_LIMIT_MS);
    const { code, signal } = await child.exited;
    clearTimeout(limit);
    const left = !(await Promise.race([treeGone, after(TREE_END_LIMIT_MS)]));
    const attempts = said.split("\n").flatMap(readAttempt);
    if (code !== 0) {
      attempts.push({ what: "be tried at all", escaped: false, got: `it ended early (${signal ?? code})` });
    }
    return [...attempts, { what: "leave a process behind", escaped: left, got: left ? "it still runs" : "it is gone" }];
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : String(cause);
    return [{ what: "start", escaped: true, got }];
  }
}

function after(limitMs: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, limitMs, false).unref());
}

function readAttempt(line: string): EscapeAttempt[] {
  try {
    const { what, escaped, got } = JSON.parse(line) as EscapeAttempt;
    return [{ what: String(what), escaped: escaped === true, got: String(got) }];
  } catch {
    return [];
  }
}
