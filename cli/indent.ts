import { displayWidth } from "./display-width.ts";
import type { Output } from "./screen.ts";

const UNKNOWN_COLUMNS = 80;
const MIN_COLUMNS = 40;
/** Pieces of a text: what moves the cursor back or paints, a line's end, spaces, a word. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what it has to find
const PIECES = /\r?\u001b\[[\d;]*[A-Za-z]|\n| +|[^\s\u001b]+|[^\n]/g;
/** Control sequences that leave the cursor in the first column. */
const LINE_CLEARED = "\r\u001b[2K";

/**
 * Puts `indent` before every line that is written to `output`, and breaks lines at spaces before the terminal would. A
 * quotation stays one where it goes on. A terminal's kind passes through, and its width without the indent.
 */
export function indentOutput(output: Output, indent: string): Output {
  const width = (): number => Math.max(MIN_COLUMNS, (output.columns || UNKNOWN_COLUMNS) - indent.length);
  let column = 0;
  let quote = "";

  function place(piece: string): string {
    if (piece === "\n" || piece === LINE_CLEARED) {
      column = 0;
      quote = "";
      return piece;
    }
    if (piece.startsWith("\u001b")) return piece;
    const wide = displayWidth(piece);
    if (output.isTTY === true && column > 0 && column + wide > width()) {
      // The spaces that the line is broken at belong to neither half.
      column = piece.startsWith(" ") ? quote.length : quote.length + wide;
      return `\n${indent}${quote}${piece.trimStart()}`;
    }
    // Empty lines stay empty; a line that goes on later is not indented twice.
    const start = column === 0 ? indent : "";
    if (column === 0 && piece === ">") quote = "> ";
    column += wide;
    return start + piece;
  }
  return {
    isTTY: output.isTTY === true,
    get columns() {
      return width();
    },
    write: (text) => output.write(typeof text === "string" ? text.replace(PIECES, place) : text),
  };
}
