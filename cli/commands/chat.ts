import { createInterface } from "node:readline";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { readPiped } from "../piped-input.ts";
import { EXIT, fail } from "../trouble.ts";
import { type ChosenSession, chooseSession, noteSession, sayAndWatch } from "./say.ts";

const HISTORY_LIMIT = 500;

/** `claw chat`: message after message on a terminal; piped input is one message. */
export async function chat(context: Context, args: Arguments): Promise<number> {
  if (context.stdin.isTTY !== true) return chatOnce(context, args);
  return withDaemon(context, async (daemon) => {
    const chosen = await chooseSession(context, daemon, args);
    if (!chosen.ok) return context.report(chosen.trouble);
    const { screen } = context;
    screen.note(screen.paintNote("dim", "an empty line or Ctrl-D leaves; Ctrl-C stops an answer"));
    let session: ChosenSession = chosen.value;
    const history: string[] = [];
    for (;;) {
      const text = await readLine(context, history);
      if (text === undefined || text.trim() === "") break;
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

/** One line from the terminal. The interface lives for one line only: while an answer streams, keys are for its questions. */
function readLine(context: Context, history: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const prompt = createInterface({
      input: context.stdin,
      output: process.stderr,
      history: [...history],
      historySize: HISTORY_LIMIT,
      removeHistoryDuplicates: true,
    });
    let entered = false;
    prompt.on("history", (lines: string[]) => {
      history.splice(0, history.length, ...lines);
    });
    prompt.once("SIGINT", () => prompt.close());
    prompt.once("close", () => {
      // Left without Enter: the prompt's line is still open. After Enter this comes too late to matter.
      if (!entered) process.stderr.write("\n");
      resolve(undefined);
    });
    prompt.question("› ", (line) => {
      entered = true;
      resolve(line);
      prompt.close();
    });
  });
}
