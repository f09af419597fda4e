import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { openLinePrompt } from "../line-prompt.ts";
import { readPiped } from "../piped-input.ts";
import { EXIT, fail } from "../trouble.ts";
import { type ChosenSession, chooseSession, noteSession, sayAndWatch } from "./say.ts";

/** `claw chat`: message after message on a terminal; piped input is one message. */
export async function chat(context: Context, args: Arguments): Promise<number> {
  if (context.stdin.isTTY !== true) return chatOnce(context, args);
  return withDaemon(context, async (daemon) => {
    const chosen = await chooseSession(context, daemon, args);
    if (!chosen.ok) return context.report(chosen.trouble);
    const { screen } = context;
    screen.note(screen.paintNote("dim", "Ctrl-C stops an answer, Ctrl-D leaves"));
    let session: ChosenSession = chosen.value;
    const prompt = openLinePrompt(context.stdin, process.stderr, context.env.TERM !== "dumb");
    for (;;) {
      const text = await prompt.read();
      if (text === undefined) break;
      if (text.trim() === "") continue;
      const watched = await sayAndWatch(context, daemon, session, args, text);
      if (watched.exit === EXIT.unreachable || watched.exit === EXIT.interrupted) {
        noteSession(context, session.id);
        return watched.exit;
      }
      session = { id: session.id, after: watched.lastSeq, muteHistory: false };
    }
    noteSession(context, session.id);
    return EXIT.done;
  });
}

async function chatOnce(context: Context, args: Arguments): Promise<number> {
  const text = await readPiped(context.stdin);
  if (!text.ok) return context.report(text.trouble);
  if (text.value.trim() === "") {
    return context.report(
      fail("usage", "nothing was piped in", "pipe one message, or run claw chat on a terminal").trouble,
    );
  }
  return withDaemon(context, async (daemon) => {
    const session = await chooseSession(context, daemon, args);
    if (!session.ok) return context.report(session.trouble);
    return (await sayAndWatch(context, daemon, session.value, args, text.value)).exit;
  });
}
