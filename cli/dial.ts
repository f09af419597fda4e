import { connect, type Socket } from "node:net";
import { type Connection, openConnection } from "./connection.ts";
import type { Environment } from "./home.ts";
import { errorCode, fail, ok, type Result, thrownText } from "./trouble.ts";

/** How long a started daemon may take until it listens. */
const START_LIMIT_MS = 10_000;
/** A daemon that exited may have lost the data folder to a rival's, which names itself in `clawd.pid` within this time. */
const RIVAL_GRACE_MS = 1_000;
const POLL_MS = 10;

export type DialPlan = {
  readonly home: string;
  readonly socketPath: string;
  /** The node binary and the bundled daemon that it runs. */
  readonly nodeBinary: string;
  readonly daemonFile: string;
  readonly env: Environment;
};

/** Connects to the daemon that runs, or says `unreachable`; never starts one. */
export async function reachDaemon(plan: DialPlan): Promise<Result<Connection>> {
  const socket = await openSocket(plan.socketPath);
  return socket.ok ? ok(openConnection(socket.value, () => connect(plan.socketPath))) : socket;
}

/** Connects to the daemon and starts it when it is missing; `started` tells that it was. */
export async function dialDaemon(plan: DialPlan): Promise<Result<{ connection: Connection; started: boolean }>> {
  const running = await reachDaemon(plan);
  if (running.ok) return ok({ connection: running.value, started: false });
  const { spawnDaemon } = await import("./spawn-daemon.ts");
  const daemon = await spawnDaemon(plan);
  if (!daemon.ok) return daemon;
  const beganMs = performance.now();
  for (;;) {
    const reached = await reachDaemon(plan);
    if (reached.ok) return ok({ connection: reached.value, started: true });
    const exited = daemon.value.exited();
    const nowMs = performance.now();
    const exitedForMs = exited === undefined ? 0 : nowMs - exited.atMs;
    if (nowMs - beganMs > START_LIMIT_MS || (exitedForMs > RIVAL_GRACE_MS && !daemon.value.hasRival())) {
      const said = await daemon.value.tailLog();
      const how =
        exited === undefined ? `did not listen within ${START_LIMIT_MS / 1000} s` : `ended with ${exited.how}`;
      const hint = said === "" ? `claw doctor looks for the cause; log: ${plan.home}/clawd.log` : `it said:\n${said}`;
      return fail("unreachable", `the daemon of ${plan.home} ${how}`, hint);
    }
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}

function openSocket(path: string): Promise<Result<Socket>> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(ok(socket));
    });
    socket.once("error", (cause) => {
      const missing = ["ENOENT", "ECONNREFUSED"].includes(errorCode(cause));
      const message = missing ? `no daemon listens on ${path}` : `cannot connect to ${path}: ${thrownText(cause)}`;
      resolve(fail("unreachable", message, "claw up starts it"));
    });
  });
}
