import { clipToWidth, displayWidth } from "./display-width.ts";
import { escapeCell, escapeLine, shorten } from "./escape.ts";
import type { Screen } from "./screen.ts";

const GAP = "  ";
/** A crowded table takes no column further down than this. */
const COLUMN_MIN_WIDTH = 6;
const TABLE_MIN_WIDTH = 20;

/**
 * Rows with one line each: aligned under headings on a terminal, tab-separated with a heading line when piped.
 *
 * @param whenEmpty is told to a person instead of bare headings
 */
export function printTable(
  screen: Screen,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): void {
  if (!screen.dataIsTerminal) {
    for (const row of [columns, ...rows]) screen.data(`${row.map(escapeCell).join("\t")}\n`);
    return;
  }
  if (rows.length === 0) {
    screen.note(whenEmpty);
    return;
  }
  const lines = alignTable(columns, rows, screen.columns);
  lines.forEach((line, index) => {
    screen.layout(`${index === 0 ? screen.paintData("bold", line) : line}\n`);
  });
}

/** The lines of an aligned table, headings first. Numbers stand on the right; the widest columns give way first. */
export function alignTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  widthLimit: number,
): string[] {
  const limit = Math.max(TABLE_MIN_WIDTH, widthLimit);
  const cells = [columns, ...rows].map((row) =>
    row.map((cell) => clipToWidth(escapeLine(shorten(cell, limit)), limit)),
  );
  const natural = columns.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ""))));
  const widths = fitWidths(natural, limit - GAP.length * (columns.length - 1));
  const numeric = columns.map((_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column] ?? "")));
  return cells.map((row) => {
    const padded = columns.map((_, column) => {
      const cell = clipToWidth(row[column] ?? "", widths[column] ?? 0);
      const fill = " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)));
      return numeric[column] ? fill + cell : cell + fill;
    });
    return clipToWidth(padded.join(GAP).trimEnd(), limit);
  });
}

/** Takes columns from the widest until all fit, or none can give more. */
function fitWidths(natural: readonly number[], total: number): readonly number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - total; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= COLUMN_MIN_WIDTH) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function isNumber(cell: string): boolean {
  return cell === "" || /^-?\d+(\.\d+)?$/.test(cell);
}
