/** Longest text of a stranger's that people get to read, UTF-16 units. */
const SHOWN_CHARS = 2000;

/** A stranger's text made safe to show: control, direction and zero-width characters written out, and cut. */
export function showable(text: string): string {
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  return cut.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`);
}
