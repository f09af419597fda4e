import { escapeCell, escapeLine, shorten } from "./escape.ts";
import type { Screen } from "./screen.ts";

const GAP = "  ";
/** No cell of an aligned table is wider; the last column gets what the terminal has left. */
const CELL_LIMIT = 60;

/** Rows with one line each: aligned under headings on a terminal, tab-separated with a heading line when piped. */
export function printTable(screen: Screen, columns: readonly string[], rows: readonly (readonly string[])[]): void {
  if (!screen.dataIsTerminal) {
    for (const row of [columns, ...rows]) screen.data(`${row.map(escapeCell).join("\t")}\n`);
    return;
  }
  const lines = alignTable(columns, rows, screen.columns);
  lines.forEach((line, index) => {
    screen.layout(`${index === 0 ? screen.paintData("bold", line) : line}\n`);
  });
}

/** The lines of an aligned table, headings first. Numbers stand on the right. */
export function alignTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  widthLimit: number,
): string[] {
  const cells = [columns, ...rows].map((row) => row.map((cell) => shorten(escapeLine(cell), CELL_LIMIT)));
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ""))));
  const numeric = columns.map((_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column] ?? "")));
  return cells.map((row) => {
    const padded = columns.map((_, column) => {
      const cell = row[column] ?? "";
      const fill = " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)));
      return numeric[column] ? fill + cell : cell + fill;
    });
    return shorten(padded.join(GAP).trimEnd(), Math.max(20, widthLimit));
  });
}

function isNumber(cell: string): boolean {
  return cell === "" || /^-?\d+(\.\d+)?$/.test(cell);
}

/** Columns that a text takes on a terminal: wide East Asian characters and emoji take two, combining marks none. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
