import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { DaemonService, JournalService, MemoryService, ProfileService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";

const ROOT = join(import.meta.dirname, "../..");
export const CLAW = join(ROOT, "dist/claw.js");
export const CLAWD = join(ROOT, "dist/clawd.js");

/** How long a daemon may take until it answers, and a test until it holds. */
const WAIT_LIMIT_MS = 15_000;

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A data folder, a workspace and the bins, as a user has them: everything goes through real processes. */
export type Bench = {
  readonly home: string;
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
  claw(...args: readonly string[]): Promise<Ran>;
  /** Starts `claw` and leaves it running. */
  clawStarted(...args: readonly string[]): ChildProcess;
  /** The daemon's pid as `claw status` tells it. */
  pid(): Promise<number>;
  /** Ends the daemon, if any, and removes both folders. */
  close(): Promise<void>;
};

export async function openBench(extraEnv: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), "clawd-home-"));
  const workspace = await mkdtemp(join(tmpdir(), "clawd-work-"));
  const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, NO_COLOR: "1", ...extraEnv };
  const bench: Bench = {
    home,
    workspace,
    env,
    claw: (...args) =>
      new Promise((resolve) => {
        const options = { env, cwd: workspace, maxBuffer: 64 * 1024 * 1024 };
        const child = execFile(process.execPath, [CLAW, ...args], options, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
          resolve({ code, stdout, stderr });
        });
        child.stdin?.end();
      }),
    clawStarted: (...args) =>
      spawn(process.execPath, [CLAW, ...args], { env, cwd: workspace, stdio: ["ignore", "pipe", "pipe"] }),
    async pid() {
      const { stdout } = await bench.claw("status", "--json");
      return JSON.parse(stdout).pid;
    },
    async close() {
      await bench.claw("down");
      await rm(home, { recursive: true, force: true });
      await rm(workspace, { recursive: true, force: true });
    },
  };
  return bench;
}

/** Typed clients on a bench's socket. */
export function dial(home: string) {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  const transport = createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
  return {
    daemon: createClient(DaemonService, transport),
    sessions: createClient(SessionService, transport),
    memory: createClient(MemoryService, transport),
    profile: createClient(ProfileService, transport),
    journals: createClient(JournalService, transport),
  };
}

/** Starts the daemon itself, without `claw`, and resolves when it answers. `hear` gets what it writes to its log. */
export async function startDaemon(env: NodeJS.ProcessEnv, hear = (_log: string) => {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CLAWD], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr?.on("data", (bytes) => {
    said += bytes;
    hear(String(bytes));
  });
  const home = env.CLAWD_HOME ?? "";
  const startedMs = performance.now();
  while (!(await isUp(home))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the daemon ended: ${said}`);
    if (performance.now() - startedMs > WAIT_LIMIT_MS) {
      child.kill("SIGKILL");
      throw new Error(`the daemon did not answer within ${WAIT_LIMIT_MS} ms: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return child;
}

async function isUp(home: string): Promise<boolean> {
  if (!existsSync(join(home, "clawd.sock"))) return false;
  return dial(home)
    .daemon.status({}, { timeoutMs: WAIT_LIMIT_MS })
    .then(
      () => true,
      () => false,
    );
}

/** Every living process whose command line or environment holds the text: who would be an orphan. */
export function processesWith(text: string): readonly { readonly pid: number; readonly command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      const environment = readFileSync(`/proc/${name}/environ`, "utf8");
      if (command.includes(text) || environment.includes(text)) found.push({ pid: Number(name), command });
    } catch {
      // It ended while we looked, or is none of ours.
    }
  }
  return found;
}

/** Resolves when the test holds, looking again and again; rejects with what was seen last. */
export async function eventually<T>(look: () => T | Promise<T>, holds: (seen: T) => boolean, what: string): Promise<T> {
  const startedMs = performance.now();
  while (true) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() - startedMs > WAIT_LIMIT_MS)
      throw new Error(`${what} did not come true; last seen: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
