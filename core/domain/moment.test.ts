import { expect, test } from "vitest";
import { readMoment } from "./moment.ts";

const NOW_MS = Date.UTC(2026, 4, 1, 12);

test.each([
  ["2026-05-01", Date.UTC(2026, 4, 1)],
  ["2026-05", Date.UTC(2026, 4, 1)],
  ["2026", Date.UTC(2026, 0, 1)],
  ["2026-05-01T10:30Z", Date.UTC(2026, 4, 1, 10, 30)],
  ["2026-05-01 10:30:05.25", Date.UTC(2026, 4, 1, 10, 30, 5, 250)],
  ["2026-05-01T10:30:05.123456789Z", Date.UTC(2026, 4, 1, 10, 30, 5, 123)],
  ["2026-05-01T10:30+02:00", Date.UTC(2026, 4, 1, 8, 30)],
  ["2026-05-01T10:30-0130", Date.UTC(2026, 4, 1, 12)],
  ["2024-02-29", Date.UTC(2024, 1, 29)],
  [" 7d ", NOW_MS - 7 * 86_400_000],
  ["2 w", NOW_MS - 14 * 86_400_000],
  ["30m", NOW_MS - 1_800_000],
])("%j is read", (text, atMs) => {
  expect(readMoment(text, NOW_MS, "back")).toEqual({ ok: true, value: atMs });
});

test("a span may go ahead", () => {
  expect(readMoment("12h", NOW_MS, "ahead")).toEqual({ ok: true, value: NOW_MS + 43_200_000 });
});

test.each([
  ["", /is no date and no span/],
  ["yesterday", /"yesterday" is no date/],
  ["2026-5-1", /is no date/],
  ["7", /is no date/],
  ["7y", /is no date/],
  ["2026-02-30", /no such time as "2026-02-30"/],
  ["2026-13", /no such time/],
  ["2026-02-03T25:00", /no such time/],
  ["0000-00-00", /no such time/],
  ["x".repeat(1_000), /^.{0,80}$/],
])("%j is refused in words", (text, message) => {
  const read = readMoment(text, NOW_MS, "back");
  expect(read.ok ? "" : read.failure.message).toMatch(message);
  expect(read.ok ? "" : read.failure.hint).toContain("7d");
});
