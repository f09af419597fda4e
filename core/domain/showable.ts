/** Longest text of a stranger's that people get to read, UTF-16 units. */
const SHOWN_CHARS = 2000;

/** A stranger's text made safe to show: control, direction and zero-width characters written out, and cut. */
export function showable(text: string): string {
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  return cut.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, writtenOut);
}

/** The same on one line: what stands on a line of its own must not look like several of them. */
export function showableLine(text: string): string {
  return showable(text).replace(/[\n\t]/g, writtenOut);
}

function writtenOut(letter: string): string {
  return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`;
}
