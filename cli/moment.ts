import { fail, ok, type Result } from "./trouble.ts";

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const LENGTH = /^(\d{1,6})([mhdw])$/;

/**
 * A moment as people write it: a day (its beginning, in UTC), a time, or a length of time, which counts from now on or back.
 * Milliseconds since 1970.
 */
export function readMoment(flag: string, written: string, nowMs: number, way: "ahead" | "back"): Result<number> {
  const [, count = "", unit = ""] = LENGTH.exec(written) ?? [];
  if (unit !== "") return ok(nowMs + (way === "ahead" ? 1 : -1) * Number(count) * (UNITS_MS[unit] ?? 0));
  const atMs = DAY.test(written) || TIME.test(written) ? parseUtc(written) : Number.NaN;
  if (Number.isFinite(atMs)) return ok(atMs);
  return fail(
    "usage",
    `${flag} takes a day or a time, not "${written}"`,
    "write it as 2026-05-01, 2026-05-01T18:00Z, or a length such as 12h, 7d or 4w",
  );
}

/** Without an offset it is UTC, for a day and a time alike. A day that the month does not have is none. */
function parseUtc(written: string): number {
  const [day = "", time = ""] = written.split(/[T ]/);
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  if (!Number.isFinite(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return Number.NaN;
  if (time === "") return dayMs;
  return Date.parse(`${day}T${time}${/(?:Z|[+-]\d{2}:?\d{2})$/.test(time) ? "" : "Z"}`);
}
