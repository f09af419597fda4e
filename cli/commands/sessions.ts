import { SessionService, SessionSummarySchema } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Arguments } from "../args.ts";
import { formatTime } from "../clock-text.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { readCount } from "../number.ts";
import { openEventPrinter, printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { openTranscript } from "../transcript.ts";
import { EXIT } from "../trouble.ts";
import { resolveSession } from "./session-name.ts";

const NO_SESSIONS = 'there are no sessions yet; claw say "hello" begins one';

/** `claw sessions list` */
export async function listSessions(context: Context, args: Arguments): Promise<number> {
  const limit = readCount("--limit", args.text("limit") ?? "0");
  if (!limit.ok) return context.report(limit.trouble);
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(SessionService.method.listSessions, { limit: limit.value });
    if (!listed.ok) return context.report(listed.trouble);
    const { sessions } = listed.value;
    if (args.on("json")) {
      for (const one of sessions) printProto(context.screen, SessionSummarySchema, one);
      return EXIT.done;
    }
    const rows = sessions.map((one) => [
      one.sessionId,
      one.failure === undefined ? one.title : `(${one.failure.message})`,
      String(one.events),
      one.busy ? "busy" : "",
      formatTime(one.changedAtMs),
      one.workspace,
    ]);
    printTable(context.screen, ["ID", "TITLE", "EVENTS", "STATE", "CHANGED", "WORKSPACE"], rows, NO_SESSIONS);
    return EXIT.done;
  });
}

/** `claw sessions show ID`: what happened, for eyes; with --json its events. */
export function showSession(context: Context, args: Arguments): Promise<number> {
  return readSession(context, args, args.on("json"));
}

/** `claw sessions export ID`: its events as JSON lines. */
export function exportSession(context: Context, args: Arguments): Promise<number> {
  return readSession(context, args, true);
}

function readSession(context: Context, args: Arguments, json: boolean): Promise<number> {
  const { screen } = context;
  return withNamedSession(context, args, async (daemon, sessionId) => {
    const transcript = openTranscript(screen.paintNote, { echoUser: true });
    const printEvent = openEventPrinter(screen);
    const end = new AbortController();
    for await (const item of daemon.stream(SessionService.method.subscribe, { sessionId }, end.signal)) {
      if (!item.ok) return context.report(item.trouble);
      const { news } = item.value;
      if (news.case === "fault")
        return context.report({ kind: "failed", message: news.value.message, hint: news.value.hint });
      if (news.case !== "event") continue;
      if (json) {
        printEvent(news.value);
        continue;
      }
      const shown = transcript.event(news.value);
      screen.data(shown.text);
      for (const line of shown.notes) screen.note(line);
    }
    return EXIT.done;
  });
}

/** `claw sessions fork ID [--at SEQ]`: prints the id of the new session. */
export async function forkSession(context: Context, args: Arguments): Promise<number> {
  const at = readCount("--at", args.text("at") ?? "0");
  if (!at.ok) return context.report(at.trouble);
  return withNamedSession(context, args, async (daemon, sessionId) => {
    const forked = await daemon.call(SessionService.method.forkSession, { sessionId, atSeq: at.value });
    if (!forked.ok) return context.report(forked.trouble);
    if (args.on("json")) printJson(context.screen, { sessionId: forked.value.sessionId, forkedFrom: sessionId });
    else context.screen.data(`${forked.value.sessionId}\n`);
    return EXIT.done;
  });
}

/** `claw sessions delete ID` */
export function deleteSession(context: Context, args: Arguments): Promise<number> {
  return withNamedSession(context, args, async (daemon, sessionId) => {
    const deleted = await daemon.call(SessionService.method.deleteSession, { sessionId });
    if (!deleted.ok) return context.report(deleted.trouble);
    if (args.on("json")) printJson(context.screen, { deleted: sessionId });
    else context.screen.note(`deleted session ${sessionId}`);
    return EXIT.done;
  });
}

function withNamedSession(
  context: Context,
  args: Arguments,
  work: (daemon: Connection, sessionId: string) => Promise<number>,
): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const id = await resolveSession(daemon, args.positionals[0] ?? "");
    return id.ok ? work(daemon, id.value) : context.report(id.trouble);
  });
}
