import type { JsonValue } from "@bufbuild/protobuf";
import type { DuckDBValue, DuckDb } from "../store/duckdb.ts";

/**
 * A DuckDB value as JSON: whole numbers as numbers while they are exact, else as text; times in ISO 8601 (UTC); NaN and
 * infinities, dates, intervals, blobs and the like as DuckDB prints them.
 */
export function jsonOf(duckdb: DuckDb, value: DuckDBValue): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return exactNumber(value);
  if (value instanceof duckdb.DuckDBTimestampValue) return isoTime(value.micros, value);
  if (value instanceof duckdb.DuckDBTimestampTZValue) return isoTime(value.micros, value);
  if (value instanceof duckdb.DuckDBDecimalValue) return shortDecimal(value.toString());
  if (value instanceof duckdb.DuckDBListValue || value instanceof duckdb.DuckDBArrayValue) {
    return value.items.map((item) => jsonOf(duckdb, item));
  }
  if (value instanceof duckdb.DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([key, field]) => [key, jsonOf(duckdb, field)]));
  }
  if (value instanceof duckdb.DuckDBMapValue) {
    return value.entries.map((entry) => ({ key: jsonOf(duckdb, entry.key), value: jsonOf(duckdb, entry.value) }));
  }
  return String(value);
}

function exactNumber(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function isoTime(micros: bigint, value: DuckDBValue): string {
  const date = new Date(Number(micros / 1_000n));
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString();
}

/** Up to 15 digits survive the way through a double. */
function shortDecimal(text: string): JsonValue {
  return text.replace(/[-.]/g, "").length <= 15 ? Number(text) : text;
}
