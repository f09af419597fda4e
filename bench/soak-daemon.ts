import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { DAEMON_OPTIONS } from "../cli/spawn-daemon.ts";
import { DaemonService, PluginAdminService } from "../proto/gen/clawd/v1/admin_pb.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import { CLAWD } from "./house.ts";

const READY_LIMIT_MS = 30_000;
const POLL_MS = 20;
const ANSWER_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 30_000;
/** Kept of what the daemon says, for the case that it ends. */
const SAID_LIMIT_CHARS = 4_000;
const BYTES_PER_MIB = 1024 ** 2;
/** In use by the daemon's main thread. */
const HELD = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

export type Clients = ReturnType<typeof dial>;

function dial(home: string) {
  const nodeOptions = { socketPath: join(home, "clawd.sock") };
  const transport = createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions });
  return {
    daemon: createClient(DaemonService, transport),
    plugins: createClient(PluginAdminService, transport),
    sessions: createClient(SessionService, transport),
  };
}

/** The bundled daemon, as a user has it, with the inspector's door open: its garbage can be swept from outside. */
export type SoakDaemon = Clients & {
  readonly pid: number;
  /** What is in use after all garbage was swept away, MiB. */
  heldMib(): Promise<number>;
  /** How it ended, should it end before it is stopped. */
  hasEnded(): string | undefined;
  stop(): Promise<void>;
};

export async function startSoakDaemon(home: string): Promise<SoakDaemon> {
  const env = { PATH: process.env.PATH ?? "", HOME: home, CLAWD_HOME: home };
  const stdio = ["ignore", "ignore", "pipe"] as const;
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", ...DAEMON_OPTIONS, CLAWD], {
    env,
    stdio: [...stdio],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const inspector = Promise.withResolvers<string>();
  let said = "";
  child.stderr?.on("data", (bytes) => {
    said = `${said}${bytes}`.slice(-SAID_LIMIT_CHARS);
    const url = /ws:\/\/\S+/.exec(said)?.[0];
    if (url !== undefined) inspector.resolve(url);
  });
  const clients = dial(home);
  await untilUp(child, clients, () => said);
  return {
    ...clients,
    pid: child.pid ?? 0,
    heldMib: async () => measureHeld(await inspector.promise),
    hasEnded: () =>
      child.exitCode === null && child.signalCode === null
        ? undefined
        : `it ended with ${child.exitCode ?? child.signalCode}: ${said}`,
    stop: async () => {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      await exited;
      clearTimeout(late);
    },
  };
}

async function untilUp(child: ChildProcess, { daemon }: Clients, said: () => string): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const isUp = await daemon.status({}, { timeoutMs: READY_LIMIT_MS }).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    if (child.exitCode !== null || performance.now() - startedMs > READY_LIMIT_MS) {
      child.kill("SIGKILL");
      throw new Error(`the daemon did not start: ${said()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Sweeps the daemon's garbage through its inspector, and asks what is left, MiB. */
async function measureHeld(url: string): Promise<number> {
  const socket = new WebSocket(url);
  const answers = new Map<
    number,
    (answer: { readonly result?: { readonly result?: { readonly value?: number } } }) => void
  >();
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data));
    answers.get(answer.id)?.(answer);
  });
  const ask = (id: number, method: string, params: object = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`the daemon's inspector does not answer ${method}`)),
        ANSWER_LIMIT_MS,
      );
      answers.set(id, (answer) => {
        clearTimeout(late);
        resolve(answer.result?.result?.value);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  try {
    await ask(1, "HeapProfiler.collectGarbage");
    await ask(2, "HeapProfiler.collectGarbage");
    return (
      ((await ask(3, "Runtime.evaluate", { expression: HELD, returnByValue: true })) ?? Number.NaN) / BYTES_PER_MIB
    );
  } finally {
    socket.close();
  }
}
