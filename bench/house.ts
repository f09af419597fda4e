import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { DAEMON_OPTIONS } from "../cli/spawn-daemon.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import { Health } from "../proto/gen/grpc/health/v1/health_pb.ts";

const ROOT = join(import.meta.dirname, "..");
export const CLAW = join(ROOT, "dist/claw.js");
export const CLAWD = join(ROOT, "dist/clawd.js");
const READY_LIMIT_MS = 30_000;

/** A real daemon on a data folder of its own. */
export type MeasuredDaemon = {
  readonly home: string;
  readonly process: ChildProcess;
  /** From the start of the process until it answered a health check, milliseconds. */
  readonly readyMs: number;
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
};

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "clawd-bench-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts the bundled daemon and waits until it answers. `home` may hold plugins and a config already. */
export async function startDaemon(
  home: string,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<MeasuredDaemon> {
  const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home, ...extraEnv };
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...DAEMON_OPTIONS, CLAWD], { env, stdio: ["ignore", "ignore", "inherit"] });
  const socket = join(home, "clawd.sock");
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  while (!(await answers(socket))) {
    if (child.exitCode !== null || performance.now() - startedMs > READY_LIMIT_MS)
      throw new Error("the daemon did not start");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const readyMs = performance.now() - startedMs;
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  return { home, process: child, readyMs, env, stop };
}

async function answers(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return false;
  return clients(socket)
    .health.check({})
    .then(
      () => true,
      () => false,
    );
}

export function clients(socket: string) {
  const transport = createConnectTransport({
    baseUrl: "http://clawd",
    httpVersion: "1.1",
    nodeOptions: { socketPath: socket },
  });
  return { health: createClient(Health, transport), sessions: createClient(SessionService, transport) };
}

/** Proportional set size of a process and all its descendants, MiB, as the kernel counts it. */
export function pssMib(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It ended while we looked.
    }
  }
  let sumKib = 0;
  for (const candidate of parents.keys()) {
    for (let at: number | undefined = candidate; at !== undefined && at > 1; at = parents.get(at)) {
      if (at !== pid) continue;
      sumKib += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${candidate}/smaps_rollup`, "utf8"))?.[1] ?? 0);
      break;
    }
  }
  return sumKib / 1024;
}

/** Runs `claw` as the bin itself and gives back its wall time, milliseconds. */
export function timeClaw(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [CLAW, ...args], {
    env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw new Error(`claw ${args.join(" ")} exited with ${status}: ${stderr}`);
  return performance.now() - startedMs;
}

/** A folder with numbered text files for a model to read. */
export function makeWorkspace(files: number): { folder: string; paths: readonly string[] } {
  const folder = temporaryFolder();
  const paths = Array.from({ length: files }, (_, index) => `file-${index}.txt`);
  for (const path of paths) writeFileSync(join(folder, path), `This is ${path}. It holds a line to read.\n`);
  return { folder, paths };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
