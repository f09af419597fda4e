/** `console.table`. Runs inside the isolate. */

import { inspectWith } from "./guest-inspect.ts";
import { textWidth } from "./inspect-layout.ts";

/** Rows and columns at most; more is cut. */
const ROWS_MAX = 1000;
const COLUMNS_MAX = 100;

type Row = { readonly index: string; readonly cells: ReadonlyMap<string, string>; readonly value: string | undefined };

function cellText(value: unknown): string {
  return inspectWith(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).replaceAll("\n", " ");
}

function readRow(index: string, value: unknown, wanted: readonly string[] | undefined): Row {
  if (typeof value === "function") return { index, cells: new Map(), value: undefined };
  if (typeof value !== "object" || value === null) return { index, cells: new Map(), value: cellText(value) };
  const entries = Object.keys(value)
    .filter((key) => wanted === undefined || wanted.includes(key))
    .slice(0, COLUMNS_MAX);
  const fields = value as Record<string, unknown>;
  return { index, cells: new Map(entries.map((key) => [key, cellText(fields[key])])), value: undefined };
}

function readRows(data: object, columns: readonly string[] | undefined): { head: string; keys: boolean; rows: Row[] } {
  if (data instanceof Map) {
    const rows = [...data].slice(0, ROWS_MAX).map(([key, value], index) => ({
      index: `${index}`,
      cells: new Map([["Key", cellText(key)]]),
      value: cellText(value),
    }));
    return { head: "(iter idx)", keys: true, rows };
  }
  if (data instanceof Set) {
    const rows = [...data].slice(0, ROWS_MAX).map((value, index) => readRow(`${index}`, value, columns));
    return { head: "(iter idx)", keys: false, rows };
  }
  const names = Object.keys(data).slice(0, ROWS_MAX);
  const fields = data as Record<string, unknown>;
  return { head: "(idx)", keys: false, rows: names.map((name) => readRow(name, fields[name], columns)) };
}

function drawn(columns: readonly (readonly string[])[]): string {
  const widths = columns.map((column) => Math.max(...column.map(textWidth)) + 2);
  // Whole numbers stand to the right.
  const right = columns.map((column) => column.slice(1).every((cell) => /^(?:\d+)?$/.test(cell)));
  const line = (left: string, cross: string, end: string) =>
    left + widths.map((width) => "─".repeat(width)).join(cross) + end;
  const row = (at: number) => {
    const cells = columns.map((column, index) => {
      const cell = column[at] ?? "";
      const room = " ".repeat((widths[index] ?? 0) - textWidth(cell) - 2);
      return right[index] && at > 0 ? ` ${room}${cell} ` : ` ${cell}${room} `;
    });
    return `│${cells.join("│")}│`;
  };
  const body = (columns[0] ?? []).slice(1).map((_cell, index) => row(index + 1));
  return [line("┌", "┬", "┐"), row(0), line("├", "┼", "┤"), ...body, line("└", "┴", "┘")].join("\n");
}

/** Undefined for what is no table: it is printed as it is. */
export function tableText(data: unknown, columns?: readonly string[]): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { head, keys, rows } = readRows(data, columns);
  const found = new Set(columns ?? (keys ? ["Key"] : rows.flatMap((row) => [...row.cells.keys()])));
  const names = [...found].slice(0, COLUMNS_MAX);
  const table = [
    [head, ...rows.map((row) => row.index)],
    ...names.map((name) => [name, ...rows.map((row) => row.cells.get(name) ?? "")]),
  ];
  if (rows.some((row) => row.value !== undefined)) table.push(["Values", ...rows.map((row) => row.value ?? "")]);
  return drawn(table);
}
