import { fail, ok, type Result } from "../../domain/failure.ts";

const MOMENT =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?$/;
const SHOWN_LIMIT_CHARS = 40;

/**
 * The moment that an ISO date or time begins with, milliseconds since 1970: of a day, month or year its first. Without an
 * offset it is UTC. `invalid` says what is wrong with it.
 */
export function readMoment(text: string): Result<number> {
  const shown = `"${text.slice(0, SHOWN_LIMIT_CHARS)}"`;
  const found = MOMENT.exec(text);
  if (found === null) return fail("invalid", `${shown} is no date`);
  const [, year = "", month = "01", day = "01", hour = "00", minute = "00", second = "00", offset = "Z"] = found;
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // A thirtieth of February would silently become the second of March.
  const same = new Date(local).toISOString().startsWith(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  if (!same) return fail("invalid", `there is no such time as ${shown}`);
  return ok(local - offsetMs(offset));
}

function offsetMs(offset: string): number {
  if (offset === "Z") return 0;
  const sign = offset.startsWith("-") ? -1 : 1;
  const digits = offset.replace(/\D/g, "");
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000;
}
