/**
 * Characters that a terminal or its reader could mistake for something else: C0 and C1 controls (escape sequences), and
 * the marks that reorder text. Tab and newline stay.
 */
const UNSAFE = /(?![\t\n])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const CONTROL_PICTURES = 0x2400;
const DELETE_PICTURE = "\u2421";

/**
 * Makes text from models, tools, plugins and files harmless on a terminal: what would steer it becomes visible instead.
 * Works on any chunk of a stream, since every unsafe character is one UTF-16 unit.
 */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (unsafe) => {
    const code = unsafe.charCodeAt(0);
    if (unsafe === "\r") return "";
    if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
    return code === 0x7f ? DELETE_PICTURE : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The same for a place that has one line: breaks and tabs become spaces. */
export function escapeLine(text: string): string {
  return escapeControls(text.replace(/\r?\n|\t/g, " "));
}

/** A cell of tab-separated values: the separators themselves are written as in C. */
export function escapeCell(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (mark) => ({ "\\": "\\\\", "\t": "\\t", "\n": "\\n" })[mark] ?? "\\r");
}

/** Cuts to `limit` characters with an ellipsis, never through a surrogate pair. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, Math.max(0, limit - 1));
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
