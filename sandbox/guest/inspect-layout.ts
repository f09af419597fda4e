/** How the parts of an inspected value are put on lines: as Deno does it, which does as Node does. Runs inside the isolate. */

export type Layout = {
  /** Columns that the line is already in, beyond its parts. */
  indentation: number;
  /** How deep the value lies that was formatted last. */
  currentDepth: number;
  readonly breakLength: number;
  /** So many innermost levels are put on one line when they fit; 0 for none. */
  readonly compact: number;
  readonly iterableLimit: number;
  readonly trailingComma: boolean;
};

const SEPARATOR_CHARS = 2;
/** With fewer items a list is not set in columns. */
const COLUMNS_FROM_ITEMS = 7;
/** A character is about so many times as high as it is wide. */
const CHARACTER_HEIGHT = 2.5;
const COLUMNS_MAX = 15;

/** Columns that a text takes in a terminal: two for wide characters, none for those that only change others. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const letter of text.normalize("NFC")) {
    const code = letter.codePointAt(0) ?? 0;
    if (/\p{Mn}|\p{Me}|\p{Cf}|\p{Cc}/u.test(letter)) continue;
    const wide =
      (code >= 0x1100 && code <= 0x115f) ||
      (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1f300 && code <= 0x1f64f) ||
      (code >= 0x1f900 && code <= 0x1f9ff) ||
      (code >= 0x20000 && code <= 0x3fffd);
    width += wide ? 2 : 1;
  }
  return width;
}

function columnCount(layout: Layout, widths: readonly number[], parts: number): number {
  const total = widths.reduce((sum, width) => sum + width + SEPARATOR_CHARS, 0);
  const widest = Math.max(...widths);
  const cell = widest + SEPARATOR_CHARS;
  if (cell * 3 + layout.indentation >= layout.breakLength) return 1;
  if (total / cell <= 5 && widest > 6) return 1;
  const biased = Math.max(cell - 3 - Math.sqrt(cell - total / parts), 1);
  return Math.min(
    Math.round(Math.sqrt(CHARACTER_HEIGHT * biased * widths.length) / biased),
    Math.floor((layout.breakLength - layout.indentation) / cell),
    layout.compact * 4,
    COLUMNS_MAX,
  );
}

/** Sets the items of a list in columns where that saves lines. `rest` is the last part when it is no item. */
function inColumns(layout: Layout, parts: readonly string[], hasRest: boolean, numbers: boolean): readonly string[] {
  const items = hasRest ? parts.slice(0, -1) : parts;
  const widths = items.map(textWidth);
  const columns = columnCount(layout, widths, parts.length);
  if (columns <= 1) return parts;
  const cells = Array.from({ length: columns }, (_, column) =>
    Math.max(...widths.filter((_width, index) => index % columns === column)),
  );
  const rows: string[] = [];
  for (let from = 0; from < items.length; from += columns) {
    const row = items.slice(from, from + columns).map((item, column, all) => {
      const last = column === all.length - 1;
      const room = " ".repeat((cells[column] ?? 0) - (widths[from + column] ?? 0));
      if (numbers) return room + item + (last ? "" : ", ");
      return item + (last ? "" : `, ${room}`);
    });
    rows.push(row.join(""));
  }
  return hasRest ? [...rows, parts.at(-1) as string] : rows;
}

function fitsOnLine(layout: Layout, parts: readonly string[], start: number, base: string): boolean {
  const length = parts.reduce((sum, part) => sum + part.length, parts.length + start);
  return length <= layout.breakLength && parts.length * 2 + start <= layout.breakLength && !base.includes("\n");
}

export type Body = {
  readonly base: string;
  readonly braces: readonly [string, string];
  readonly parts: readonly string[];
  readonly isList: boolean;
  /** Whether every item of a list is a number, which is set to the right. */
  readonly numbers: boolean;
  readonly depth: number;
};

/** Puts the parts of one value together: on one line when it is short and not deep, else one below the other. */
export function layOut(layout: Layout, { base, braces, parts, isList, numbers, depth }: Body): string {
  const head = base === "" ? braces[0] : `${base} ${braces[0]}`;
  const columns =
    isList && layout.compact >= 1 && parts.length >= COLUMNS_FROM_ITEMS
      ? inColumns(layout, parts, parts.length > layout.iterableLimit, numbers)
      : parts;
  if (layout.currentDepth - depth < layout.compact && columns.length === parts.length) {
    const start = parts.length + layout.indentation + braces[0].length + base.length + 10;
    const line = parts.join(", ");
    if (fitsOnLine(layout, parts, start, base) && !line.includes("\n")) return `${head} ${line} ${braces[1]}`;
  }
  const margin = `\n${" ".repeat(layout.indentation)}`;
  const comma = layout.trailingComma ? "," : "";
  return `${head}${margin}  ${columns.join(`,${margin}  `)}${comma}${margin}${braces[1]}`;
}
