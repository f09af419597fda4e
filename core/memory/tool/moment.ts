import { fail, ok, type Result } from "../../domain/failure.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?$/;
const SPAN = /^(\d{1,6})\s?([mhdw])$/;

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Milliseconds since 1970 of a moment as a person or a model writes it: `2026-05-01` (the day's beginning, UTC),
 * `2026-05-01T10:30Z`, or a span such as `30m`, `12h`, `7d`, `2w`.
 * @param direction where a span goes from now: 1 ahead, -1 back
 */
export function readMoment(text: string, nowMs: number, direction: 1 | -1): Result<number> {
  const span = SPAN.exec(text.trim());
  if (span !== null) return ok(nowMs + direction * Number(span[1]) * (UNIT_MS[span[2] ?? ""] ?? 0));
  const plain = text.trim().replace(" ", "T");
  if (DATE.test(plain) || DATE_TIME.test(plain)) {
    const hasZone = DATE.test(plain) || /(Z|[+-]\d{2}:?\d{2})$/.test(plain);
    const atMs = Date.parse(hasZone ? plain : `${plain}Z`);
    if (Number.isFinite(atMs)) return ok(atMs);
  }
  return fail("invalid", `${JSON.stringify(text.slice(0, 40))} is no moment`, {
    hint: "write it as 2026-05-01, 2026-05-01T10:30Z, or as a span: 30m, 12h, 7d, 2w",
  });
}

/** `<1min`, `5min`, `3h`, `2d`: how long ago something was. */
export function ageOf(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  if (minutes < 1) return "<1min";
  if (minutes < 60) return `${minutes}min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
