import { fail, ok, type Result } from "./failure.ts";

const DATE =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3})\d{0,6})?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?$/;
const SPAN = /^(\d{1,6})\s?([mhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const SHOWN_LIMIT_CHARS = 40;
const HINT = "write it as 2026-05-01, 2026-05-01T10:30Z, or as a span: 30m, 12h, 7d, 2w";

/**
 * Milliseconds since 1970 of a moment as a person or a model writes it: `2026-05-01T10:30Z`; a day, month or year, which is
 * its beginning; or a span such as `30m`, `12h`, `7d`, `2w`. Without an offset it is UTC.
 * @param way where a span goes from now.
 */
export function readMoment(text: string, nowMs: number, way: "ahead" | "back"): Result<number> {
  const written = text.trim();
  const [, count = "", unit = ""] = SPAN.exec(written) ?? [];
  if (unit !== "") return ok(nowMs + (way === "ahead" ? 1 : -1) * Number(count) * (UNIT_MS[unit] ?? 0));
  const shown = JSON.stringify(written.slice(0, SHOWN_LIMIT_CHARS));
  const found = DATE.exec(written);
  if (found === null) return fail("invalid", `${shown} is no date and no span`, { hint: HINT });
  const [, year = "", month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = found;
  const localMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // A thirtieth of February would silently become the second of March.
  const isSame = new Date(localMs).toISOString().startsWith(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  if (!isSame) return fail("invalid", `there is no such time as ${shown}`, { hint: HINT });
  return ok(localMs + Number(fraction.padEnd(3, "0")) - offsetMs(found[8] ?? "Z"));
}

function offsetMs(offset: string): number {
  if (offset === "Z") return 0;
  const digits = offset.replace(/\D/g, "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}
