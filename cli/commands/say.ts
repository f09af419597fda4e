import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { openConversation } from "../conversation.ts";
import { readPiped } from "../piped-input.ts";
import { digestProviderVariables } from "../provider-variables.ts";
import { fail, ok, type Result, thrownText } from "../trouble.ts";
import { type Watched, watchSession } from "../watch.ts";
import { newestSession } from "./session-name.ts";

/** `claw say TEXT`: one message; ends with the turn. */
export async function say(context: Context, args: Arguments): Promise<number> {
  const text = await readText(context, args);
  if (!text.ok) return context.report(text.trouble);
  return withDaemon(context, async (daemon) => {
    const session = await chooseSession(context, daemon, args);
    if (!session.ok) return context.report(session.trouble);
    const { exit, lastSeq } = await sayAndWatch(context, daemon, session.value, args, text.value);
    // JSON lines name the session themselves; one that nothing was heard of may not even exist.
    if (!args.on("json") && lastSeq > 0) noteSession(context, session.value.id);
    return exit;
  });
}

/** A session and how far its events are known. An old session of unknown length is replayed in silence. */
export type ChosenSession = { readonly id: string; readonly after: number; readonly muteHistory: boolean };

/** The session of `--session`, or a new one in the folder of `--workspace`. */
export async function chooseSession(
  context: Context,
  daemon: Connection,
  args: Arguments,
): Promise<Result<ChosenSession>> {
  const wanted = args.text("session");
  if (wanted === "last") {
    const newest = await newestSession(daemon);
    return newest.ok ? ok({ id: newest.value.sessionId, after: newest.value.events, muteHistory: true }) : newest;
  }
  if (wanted !== undefined) return ok({ id: wanted, after: 0, muteHistory: true });
  const workspace = resolve(context.folder, args.text("workspace") ?? ".");
  const hint = "give an existing folder to --workspace";
  try {
    if (!(await stat(workspace)).isDirectory())
      return fail("usage", `the workspace ${workspace} is not a folder`, hint);
  } catch (cause) {
    return fail("usage", `cannot work in ${workspace}: ${thrownText(cause)}`, hint);
  }
  const opened = await daemon.call(SessionService.method.openSession, { workspace, model: args.text("model") ?? "" });
  return opened.ok ? ok({ id: opened.value.sessionId, after: 0, muteHistory: false }) : opened;
}

/** Says `text` and shows what comes until its turn ends. */
export async function sayAndWatch(
  context: Context,
  daemon: Connection,
  session: ChosenSession,
  args: Arguments,
  text: string,
): Promise<Watched> {
  const conversation = openConversation(context, daemon, session.id);
  const message = {
    sessionId: session.id,
    text,
    allow: [...args.list("allow")],
    yolo: args.on("yolo"),
    // A new session was opened with the model already; an old one gets it for this turn.
    model: args.text("session") === undefined ? "" : (args.text("model") ?? ""),
    variables: digestProviderVariables(context.env),
  };
  try {
    return await watchSession(context, conversation, {
      after: session.after,
      showAfter: session.after,
      muteHistory: session.muteHistory,
      echoUser: false,
      json: args.on("json"),
      until: "turn",
      say: () => conversation.call(SessionService.method.say, message),
    });
  } finally {
    conversation.close();
  }
}

export function noteSession(context: Context, id: string): void {
  const { screen } = context;
  screen.note(screen.paintNote("dim", `session ${id} · go on: claw say --session ${id} "…"`));
}

async function readText(context: Context, args: Arguments): Promise<Result<string>> {
  const given = args.positionals.join(" ");
  const text =
    given === "-" || (given === "" && context.stdin.isTTY !== true) ? await readPiped(context.stdin) : ok(given);
  if (!text.ok) return text;
  if (text.value.trim() !== "") return text;
  return fail("usage", '"claw say" needs a text', 'write claw say "what is in notes.md?" or pipe the text in');
}
