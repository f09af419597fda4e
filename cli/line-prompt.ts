import { createInterface } from "node:readline";

const HISTORY_LIMIT = 500;
const PROMPT = "› ";
const CONTINUED = "  ";
/** Asks the terminal to mark where a paste begins and ends, and not to any more. */
const MARK_PASTES = "\u001b[?2004h";
const UNMARK_PASTES = "\u001b[?2004l";

/** Messages typed at a terminal, with a history. Several lines pasted at once are one message. */
export type LinePrompt = {
  /** The next message; undefined when the person leaves: Ctrl-D, or Ctrl-C on an empty line. */
  read(): Promise<string | undefined>;
};

/** @param marksPastes false for terminals that print what they do not understand */
export function openLinePrompt(
  stdin: NodeJS.ReadStream,
  output: NodeJS.WritableStream,
  marksPastes: boolean,
): LinePrompt {
  const history: string[] = [];
  /** What came in one piece with the last message, behind its end. */
  let draft = "";

  /** The interface lives for one message only: while an answer streams, keys are for its questions. */
  function read(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const prompt = createInterface({
        input: stdin,
        output,
        prompt: PROMPT,
        history: [...history],
        historySize: HISTORY_LIMIT,
        removeHistoryDuplicates: true,
      });
      const lines: string[] = [];
      let pasting = false;
      let entered = false;
      const onKey = (_text: string | undefined, key: { readonly name?: string }): void => {
        if (key.name === "paste-start") pasting = true;
        if (key.name === "paste-end") pasting = false;
      };
      const finish = (text: string | undefined): void => {
        stdin.off("keypress", onKey);
        if (marksPastes) output.write(UNMARK_PASTES);
        resolve(text);
      };
      prompt.on("history", (seen: string[]) => {
        history.splice(0, history.length, ...seen);
      });
      prompt.on("line", (line) => {
        lines.push(line);
        if (pasting) {
          prompt.setPrompt(CONTINUED);
          prompt.prompt();
        } else if (!entered) {
          entered = true;
          // Lines that came with this one in one piece were pasted on a terminal that does not say so.
          setImmediate(() => {
            draft = prompt.line;
            prompt.close();
          });
        }
      });
      prompt.on("SIGINT", () => {
        if (prompt.line === "" && lines.length === 0) return prompt.close();
        // As in a shell, it takes back what was typed.
        lines.length = 0;
        prompt.setPrompt(PROMPT);
        for (const name of ["e", "u"]) prompt.write("", { ctrl: true, name });
        prompt.prompt();
      });
      prompt.once("close", () => {
        // Left without Enter: the prompt's line is still open.
        if (!entered) output.write("\n");
        finish(entered ? lines.join("\n") : undefined);
      });
      stdin.on("keypress", onKey);
      if (marksPastes) output.write(MARK_PASTES);
      prompt.prompt();
      prompt.write(draft);
      draft = "";
    });
  }
  return { read };
}
