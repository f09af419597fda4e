import type { WriteStream } from "node:tty";
import { escapeControls } from "./escape.ts";
import type { Environment } from "./home.ts";

const SPINNER_FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_MS = 90;
const CLEAR_LINE = "\r\u001b[2K";

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Style = keyof typeof STYLES;
export type Paint = (style: Style, text: string) => string;

/** The two streams of a program, of which only stdout carries data. */
export type Screen = {
  /** True when a person reads stdout; data may then be laid out for eyes. */
  readonly dataIsTerminal: boolean;
  /** True when a person reads stderr: spinners and questions make sense. */
  readonly notesAreTerminal: boolean;
  readonly columns: number;
  /** Colours for stdout and for stderr; plain text where they would be noise. */
  readonly paintData: Paint;
  readonly paintNote: Paint;
  /** Writes data as it is when piped, harmless on a terminal. */
  data(text: string): void;
  /** Writes lines that this program laid out and coloured itself; foreign words in them are escaped already. */
  layout(text: string): void;
  /** Writes a line for the person to stderr, on a line of its own. */
  note(line: string): void;
  /** Writes a stranger's stderr as it comes, harmless on a terminal. */
  errorText(text: string): void;
  /** Shows that something is under way; silent when stderr is no terminal. */
  spin(label: string): void;
  /** Takes the spinner away. */
  rest(): void;
};

type Output = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

export function openScreen(stdout: Output | WriteStream, stderr: Output | WriteStream, env: Environment): Screen {
  const colourful = (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  const dataIsTerminal = stdout.isTTY === true;
  const notesAreTerminal = stderr.isTTY === true;
  // Where the cursor stands matters only when both streams end on one terminal.
  let midLine = false;
  let label = "";
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;

  function draw(): void {
    frame = (frame + 1) % SPINNER_FRAMES.length;
    stderr.write(`${CLEAR_LINE}${paintNote("cyan", SPINNER_FRAMES[frame] ?? "")} ${paintNote("dim", label)}`);
  }
  function rest(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    stderr.write(CLEAR_LINE);
  }
  function write(text: string): void {
    rest();
    if (text === "") return;
    midLine = dataIsTerminal && !text.endsWith("\n");
    stdout.write(text);
  }
  const paintNote = painter(notesAreTerminal && colourful);
  return {
    dataIsTerminal,
    notesAreTerminal,
    columns: (dataIsTerminal ? stdout.columns : stderr.columns) ?? 120,
    paintData: painter(dataIsTerminal && colourful),
    paintNote,
    data: (text) => write(dataIsTerminal ? escapeControls(text) : text),
    layout: write,
    note(line) {
      rest();
      if (midLine && notesAreTerminal) stderr.write("\n");
      midLine = false;
      stderr.write(`${line}\n`);
    },
    errorText(text) {
      rest();
      stderr.write(notesAreTerminal ? escapeControls(text) : text);
    },
    spin(text) {
      // A spinner in the middle of streamed words would delete them.
      if (!notesAreTerminal || midLine) return;
      label = text;
      if (timer !== undefined) return;
      timer = setInterval(draw, SPINNER_MS);
      timer.unref();
    },
    rest,
  };
}

function painter(colourful: boolean): Paint {
  if (!colourful) return (_style, text) => text;
  return (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m`;
}
