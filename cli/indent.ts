/** What a screen writes to; a terminal's width and kind pass through. */
type Output = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

/** Control sequences that leave the cursor in the first column. */
const LINE_CLEARED = "\u001b[2K";

/** Puts `indent` before every line that is written to `output`. */
export function indentOutput(output: Output, indent: string): Output {
  let atLineStart = true;
  return {
    isTTY: output.isTTY === true,
    columns: Math.max(40, (output.columns ?? 80) - indent.length),
    write(text) {
      const first = atLineStart && !text.startsWith("\n") ? indent : "";
      // Empty lines stay empty; a line that goes on later is not indented twice.
      output.write(first + text.replace(/\n(?=[^\n])/g, `\n${indent}`));
      atLineStart = text.endsWith("\n") || text.endsWith(LINE_CLEARED);
    },
  };
}
