import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Context } from "../command.ts";
import { protoLine } from "../proto-json.ts";
import { waitUntilGone } from "./daemon.ts";
import { askStatus, type Tour } from "./tour-stage.ts";

const TURN_LIMIT_MS = 20_000;
const DEATH_LIMIT_MS = 5_000;
const SLOW_TURN = "run sleep 20 then read .gitignore";

/** What a client was told before everything died: its JSON lines, and the session they are of. */
type Told = { readonly sessionId: string; readonly lines: readonly string[] };

/** Starts a slow turn, kills daemon and client while its tool runs, attaches again and compares. */
export async function showCrash(tour: Tour): Promise<boolean> {
  const status = await askStatus(tour.context);
  if (!status.ok) return false;
  tour.showCommand(["say", SLOW_TURN, "--yolo"]);
  const told = await sayAndKill(tour.context, status.value.pid);
  if (told === undefined || !(await waitUntilGone(status.value.pid, DEATH_LIMIT_MS))) return false;
  tour.tell(`The tool runs. kill -9 of the daemon (pid ${status.value.pid}) and of the client.`);
  tour.tell(`The client had been told ${told.lines.length} events; the last one says that the tool was started.`);
  if (!(await tour.command(["attach", told.sessionId]))) return false;
  const kept = await readLines(tour.context, told.sessionId);
  const isKept = told.lines.every((line, at) => line === kept[at]);
  const after = kept.length - told.lines.length;
  if (isKept)
    tour.tell(
      `All ${told.lines.length} told events are in the journal, unchanged; ${after} more came after the restart.`,
    );
  return isKept && after > 0;
}

/** Runs a client as a process of its own and kills daemon and client once it was told that the tool runs. */
async function sayAndKill(context: Context, daemonPid: number): Promise<Told | undefined> {
  const argv = [context.clientFile, "say", "--json", "--yolo", "--workspace", context.packageRoot, SLOW_TURN];
  const env = { ...context.plan.env };
  const client = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "ignore"] });
  const limit = setTimeout(() => client.kill("SIGKILL"), TURN_LIMIT_MS);
  try {
    return await hearUntilToolRuns(client, daemonPid);
  } finally {
    clearTimeout(limit);
    client.kill("SIGKILL");
  }
}

async function hearUntilToolRuns(
  client: ChildProcessByStdio<null, Readable, null>,
  daemonPid: number,
): Promise<Told | undefined> {
  const lines: string[] = [];
  let sessionId = "";
  for await (const line of createInterface({ input: client.stdout })) {
    lines.push(line);
    const event = JSON.parse(line) as { sessionOpened?: { sessionId: string }; toolCallStarted?: object };
    sessionId = event.sessionOpened?.sessionId ?? sessionId;
    if (event.toolCallStarted === undefined) continue;
    process.kill(daemonPid, "SIGKILL");
    return { sessionId, lines };
  }
  return undefined;
}

/** The session's events as `claw` prints them. */
async function readLines(context: Context, sessionId: string): Promise<string[]> {
  const dialled = await context.dial();
  if (!dialled.ok) return [];
  const lines: string[] = [];
  const end = new AbortController();
  try {
    for await (const item of dialled.value.stream(SessionService.method.subscribe, { sessionId }, end.signal)) {
      if (!item.ok) return [];
      if (item.value.news.case !== "event") continue;
      lines.push(protoLine(EventSchema, item.value.news.value));
    }
    return lines;
  } finally {
    dialled.value.close();
  }
}
