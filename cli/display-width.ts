const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** What paints text takes no room. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence begins with one
const PAINT = /\u001b\[[\d;]*m/g;

/**
 * Columns that a text takes on a terminal: wide East Asian characters and emoji take two, combining marks and colours
 * none.
 */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of stripPaint(text)) width += characterWidth(character);
  return width;
}

export function stripPaint(text: string): string {
  return text.includes("\u001b") ? text.replace(PAINT, "") : text;
}

function characterWidth(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (/\p{Mark}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Cuts to `limit` columns with an ellipsis, never through a character. */
export function clipToWidth(text: string, limit: number): string {
  // Most texts are far shorter; a text has at most two columns a character.
  if (text.length * 2 <= limit || displayWidth(text) <= limit) return text;
  let kept = "";
  let width = 1;
  for (const character of text) {
    width += characterWidth(character);
    if (width > limit) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * Breaks lines at spaces so that none is wider than `width` columns; lines that go on begin with `indent`. A longer word
 * stays whole: paths and commands are there to be copied.
 */
export function wrapWords(text: string, width: number, indent: string): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width, indent))
    .join("\n");
}

function wrapLine(line: string, width: number, indent: string): string {
  const lead = /^\s*/.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let current = "";
  for (const word of line.slice(lead.length).split(" ")) {
    const start = lines.length === 0 ? lead : indent;
    const longer = current === "" ? start + word : `${current} ${word}`;
    if (current === "" || displayWidth(longer) <= width) {
      current = longer;
      continue;
    }
    lines.push(current);
    current = indent + word;
  }
  return [...lines, current].join("\n");
}
