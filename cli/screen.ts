import { clipToWidth, stripPaint, wrapWords } from "./display-width.ts";
import { escapeControls } from "./escape.ts";
import type { Environment } from "./home.ts";

const SPINNER_FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_MS = 90;
const CLEAR_LINE = "\r\u001b[2K";
/** The frame before a spinner's label and the space between. */
const SPINNER_WIDTH = 2;
/** Where nobody knows the width: a pipe, or a terminal that does not tell. */
const UNKNOWN_COLUMNS = 120;

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Style = keyof typeof STYLES;
export type Paint = (style: Style, text: string) => string;

/** The two streams of a program, of which only stdout carries data. */
export type Screen = {
  /** True when a person reads stdout; data may then be laid out for eyes. */
  readonly dataIsTerminal: boolean;
  /** True when a person reads stderr: spinners and questions make sense. */
  readonly notesAreTerminal: boolean;
  /** The width as it is now: terminals are resized. */
  readonly columns: number;
  /** Colours for stdout and for stderr; plain text where they would be noise. */
  readonly paintData: Paint;
  readonly paintNote: Paint;
  /** Writes data as it is when piped, harmless on a terminal. */
  data(text: string): void;
  /** Writes lines that this program laid out and coloured itself; foreign words in them are escaped already. */
  layout(text: string): void;
  /** Writes lines for the person to stderr, on lines of their own, broken at the terminal's width. */
  note(line: string): void;
  /** The same for lines with a command to be copied, which nothing breaks: a shell would take the break for its end. */
  noteWhole(line: string): void;
  /** Writes a stranger's stderr as it comes, harmless on a terminal. */
  errorText(text: string): void;
  /** Writes a script's bytes as they are when piped, as harmless text on a terminal. */
  bytes(to: "data" | "errors", bytes: Uint8Array): void;
  /** Breaks a text that people read at the terminal's width, lines that go on `indent` columns in; a pipe gets it whole. */
  wrapData(text: string, indent: number): string;
  /** Shows that something is under way; silent when stderr is no terminal. */
  spin(label: string): void;
  /** Takes the spinner away. */
  rest(): void;
  /** Keeps a question on the last line, below whatever else comes, until `unask`. */
  ask(question: string): void;
  /** Takes the question away without a trace. */
  unask(): void;
};

/** What a screen writes to: a stream of this process, or something before one. */
export type Output = { write(text: string | Uint8Array): unknown; readonly isTTY?: boolean; readonly columns?: number };

export function openScreen(stdout: Output, stderr: Output, env: Environment): Screen {
  const colourful = (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  const dataIsTerminal = stdout.isTTY === true;
  const notesAreTerminal = stderr.isTTY === true;
  // Where the cursor stands matters only when both streams end on one terminal.
  let midLine = false;
  const decoders = { data: new TextDecoder(), errors: new TextDecoder() };
  let label = "";
  let question = "";
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;

  function columns(): number {
    const told = (dataIsTerminal ? stdout.columns : stderr.columns) ?? 0;
    return told > 0 ? told : UNKNOWN_COLUMNS;
  }
  function draw(): void {
    frame = (frame + 1) % SPINNER_FRAMES.length;
    // One column less than there are: a line that wraps cannot be taken back.
    const text = paintNote("dim", clipToWidth(label, columns() - SPINNER_WIDTH - 1));
    stderr.write(`${CLEAR_LINE}${paintNote("cyan", SPINNER_FRAMES[frame] ?? "")} ${text}`);
  }
  function rest(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    stderr.write(CLEAR_LINE);
  }
  /** Everything that stays is written between these two. */
  function makeRoom(): void {
    rest();
    if (question !== "" && !midLine) stderr.write(CLEAR_LINE);
  }
  function drawQuestion(): void {
    if (question !== "" && !midLine) stderr.write(paintNote("bold", clipToWidth(question, columns() - 1)));
  }
  function write(text: string): void {
    if (text === "") {
      rest();
      return;
    }
    makeRoom();
    midLine = dataIsTerminal && !text.endsWith("\n");
    stdout.write(text);
    drawQuestion();
  }
  function endLine(): void {
    if (midLine && notesAreTerminal) stderr.write("\n");
    midLine = false;
  }
  function writeNote(text: string): void {
    makeRoom();
    endLine();
    stderr.write(`${text}\n`);
    drawQuestion();
  }
  const paintNote = painter(notesAreTerminal && colourful);
  return {
    dataIsTerminal,
    notesAreTerminal,
    get columns() {
      return columns();
    },
    paintData: painter(dataIsTerminal && colourful),
    paintNote,
    data: (text) => write(dataIsTerminal ? escapeControls(text) : text),
    layout: write,
    note: (line) => writeNote(notesAreTerminal ? wrapNote(line, columns()) : line),
    noteWhole: writeNote,
    errorText(text) {
      makeRoom();
      stderr.write(notesAreTerminal ? escapeControls(text) : text);
      drawQuestion();
    },
    bytes(to, bytes) {
      const isTerminal = to === "data" ? dataIsTerminal : notesAreTerminal;
      // A character may come in two pieces.
      const text = isTerminal ? decoders[to].decode(bytes, { stream: true }) : undefined;
      if (to === "data") {
        if (text !== undefined) return write(escapeControls(text));
        makeRoom();
        stdout.write(bytes);
      } else {
        makeRoom();
        stderr.write(text === undefined ? bytes : escapeControls(text));
      }
      drawQuestion();
    },
    wrapData: (text, indent) => (dataIsTerminal ? wrapWords(text, columns(), " ".repeat(indent)) : text),
    spin(text) {
      // A spinner in the middle of streamed words, or on a question, would delete them.
      if (!notesAreTerminal || midLine || question !== "") return;
      label = text;
      if (timer !== undefined) return;
      timer = setInterval(draw, SPINNER_MS);
      timer.unref();
    },
    rest,
    ask(text) {
      makeRoom();
      endLine();
      question = text;
      drawQuestion();
    },
    unask() {
      makeRoom();
      question = "";
    },
  };
}

/** What goes on stands a little further in than its beginning. */
function wrapNote(text: string, width: number): string {
  const wrapped = text.split("\n").map((line) => {
    const [lead = ""] = /^ *(?:→ )?/.exec(stripPaint(line)) ?? [];
    return wrapWords(line, width, " ".repeat(lead.endsWith("→ ") ? lead.length : lead.length + 2));
  });
  return wrapped.join("\n");
}

function painter(colourful: boolean): Paint {
  if (!colourful) return (_style, text) => text;
  return (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m`;
}
