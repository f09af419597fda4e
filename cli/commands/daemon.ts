import { readdirSync, readFileSync } from "node:fs";
import {
  DaemonService,
  type HookStatus,
  PluginState,
  type StatusResponse,
  StatusResponseSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { dialDaemon, reachDaemon } from "../dial.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { printJson, printProto } from "../proto-json.ts";
import { EXIT, errorCode, fail } from "../trouble.ts";

/** How long a daemon may take to close its turns and end. */
const END_LIMIT_MS = 15_000;
const POLL_MS = 10;
/** Where the facts of the status page begin. */
const FACT_INDENT = 10;

/** `claw up`: starts the daemon unless it runs. */
export async function up(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  screen.spin("starting the daemon");
  const dialled = await dialDaemon(context.plan);
  screen.rest();
  if (!dialled.ok) return context.report(dialled.trouble);
  const { connection, started } = dialled.value;
  try {
    const status = await connection.call(DaemonService.method.status, {});
    if (!status.ok) return context.report(status.trouble);
    const { pid, version, home, socket } = status.value;
    if (args.on("json")) printJson(screen, { pid, version, home, socket, started });
    else screen.note(`clawd ${version} ${started ? "started" : "runs already"}: pid ${pid}, ${escapeLine(socket)}`);
    return EXIT.done;
  } finally {
    connection.close();
  }
}

/** `claw down`: ends the daemon and waits until it is gone. Nothing to end is fine. */
export async function down(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const tell = (stopped: boolean, pid: number): number => {
    if (args.on("json")) printJson(screen, { stopped, pid });
    else screen.note(stopped ? `clawd (pid ${pid}) has ended` : `no daemon runs for ${escapeLine(context.plan.home)}`);
    return EXIT.done;
  };
  const reached = await reachDaemon(context.plan);
  if (!reached.ok) return tell(false, 0);
  const daemon = reached.value;
  try {
    const status = await daemon.call(DaemonService.method.status, {});
    if (!status.ok) return context.report(status.trouble);
    const asked = await daemon.call(DaemonService.method.shutdown, {});
    if (!asked.ok && asked.trouble.kind !== "unreachable") return context.report(asked.trouble);
    const { pid } = status.value;
    screen.spin("waiting for its end");
    const gone = await waitUntilGone(pid, END_LIMIT_MS);
    screen.rest();
    if (gone) return tell(true, pid);
    const message = `the daemon (pid ${pid}) still runs ${END_LIMIT_MS / 1000} s after it was told to end`;
    return context.report(fail("failed", message, `kill ${pid} ends it; its journals survive that`).trouble);
  } finally {
    daemon.close();
  }
}

/** True once no process of that id runs; false when it still does after `limitMs`. */
export async function waitUntilGone(pid: number, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (!isRunning(pid)) return true;
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    return errorCode(cause) !== "ESRCH";
  }
  // One that has ended and was not yet collected by its parent is gone, once the last of its threads is.
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")) || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    // This system has no such files, or it went away just now: then the next look tells.
    return true;
  }
}

/** `claw status`: one page, or one JSON object. */
export function status(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const answer = await daemon.call(DaemonService.method.status, {});
    if (!answer.ok) return context.report(answer.trouble);
    if (args.on("json")) printProto(context.screen, StatusResponseSchema, answer.value);
    else printStatus(context, answer.value);
    return EXIT.done;
  });
}

function printStatus(context: Context, status: StatusResponse): void {
  const { screen } = context;
  const facts: [string, string][] = [
    ["daemon", `clawd ${status.version}, pid ${status.pid}, node ${status.nodeVersion}`],
    ["home", status.home],
    ["socket", status.tcpAddress === "" ? status.socket : `${status.socket} and ${status.tcpAddress}`],
    ["provider", status.provider],
    ["sandbox", sandboxText(status)],
    ["plugins", status.plugins.map((one) => `${one.name} (${stateName(one.state)})`).join(", ") || "none"],
    ["hooks", status.hooks.map(hookName).join(", ") || "none"],
    ["busy", `${status.busySessions} session${status.busySessions === 1 ? "" : "s"}`],
  ];
  for (const [name, fact] of facts) {
    const text = screen.wrapData(`${"".padEnd(FACT_INDENT)}${escapeControls(fact)}`, FACT_INDENT).trimStart();
    screen.layout(`${screen.paintData("bold", name.padEnd(FACT_INDENT))}${text}\n`);
  }
  for (const problem of status.problems) {
    screen.note(`${screen.paintNote("yellow", "!")} ${escapeControls(problem.message)}`);
    if (problem.hint !== "")
      screen.note(screen.paintNote("dim", `  → ${escapeControls(problem.hint).replaceAll("\n", "\n    ")}`));
  }
}

function hookName({ name, enabled, failure }: HookStatus): string {
  if (failure === undefined) return name;
  return `${name} (${enabled ? "broken" : "off"})`;
}

function sandboxText({ sandbox }: StatusResponse): string {
  const { level = "unknown", detail = "" } = sandbox ?? {};
  return detail.startsWith(level) ? detail : `${level}: ${detail}`;
}

const STATE_NAMES: Readonly<Record<number, string>> = {
  [PluginState.IDLE]: "idle",
  [PluginState.STARTING]: "starting",
  [PluginState.READY]: "ready",
  [PluginState.BACKING_OFF]: "backing off",
  [PluginState.DISABLED]: "disabled",
  [PluginState.REFUSED]: "refused",
  [PluginState.NOT_CONNECTED]: "not connected",
};

export function stateName(state: PluginState): string {
  return STATE_NAMES[state] ?? "unknown";
}
