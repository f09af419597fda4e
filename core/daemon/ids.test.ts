import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { idMaker } from "./ids.ts";

test("ids are file names, sort by time, and do not repeat within a millisecond", () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const newId = idMaker(() => nowMs, randomBytes);
  const ids = Array.from({ length: 1000 }, (_, index) => {
    nowMs += index % 10 === 0 ? 1 : 0;
    return newId();
  });
  expect(new Set(ids).size).toBe(1000);
  expect(ids.every((id) => /^[0-9a-z]{16}$/.test(id))).toBe(true);
  const times = ids.map((id) => id.slice(0, 9));
  expect(times).toEqual([...times].sort());
});
