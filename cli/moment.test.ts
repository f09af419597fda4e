import { expect, test } from "vitest";
import { readMoment } from "./moment.ts";

const NOW_MS = Date.UTC(2026, 4, 10, 12);

test.each([
  ["2026-05-01", Date.UTC(2026, 4, 1)],
  ["2026-05-01T18:30", Date.UTC(2026, 4, 1, 18, 30)],
  ["2026-05-01 18:30:15", Date.UTC(2026, 4, 1, 18, 30, 15)],
  ["2026-05-01T18:30Z", Date.UTC(2026, 4, 1, 18, 30)],
  ["2026-05-01T18:30+02:00", Date.UTC(2026, 4, 1, 16, 30)],
  ["2026-05-01T18:30-0130", Date.UTC(2026, 4, 1, 20)],
  ["12h", NOW_MS + 12 * 3_600_000],
  ["2w", NOW_MS + 14 * 86_400_000],
])("%s is a moment", (written, atMs) => {
  expect(readMoment("--expires", written, NOW_MS, "ahead")).toEqual({ ok: true, value: atMs });
});

test("a length counts back where what is past is asked for", () => {
  expect(readMoment("--after", "7d", NOW_MS, "back")).toEqual({ ok: true, value: NOW_MS - 7 * 86_400_000 });
});

test.each([
  "",
  "soon",
  "2026-02-30",
  "2026-13-01",
  "2026-05-01T25:00",
  "05/01/2026",
  "7y",
  "-7d",
  "1e9d",
  "2026-05-01T",
])("%j is none, and the flag is named", (written) => {
  expect(readMoment("--after", written, NOW_MS, "back")).toMatchObject({
    ok: false,
    trouble: { kind: "usage", message: `--after takes a day or a time, not "${written}"` },
  });
});
