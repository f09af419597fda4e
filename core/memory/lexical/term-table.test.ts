import { expect, test } from "vitest";
import { seeded } from "./fixtures/index-group.ts";
import { createTermTable } from "./term-table.ts";

test("terms keep the number that they got first, and are sorted by their bytes", () => {
  const random = seeded(3);
  const letters = ["a", "b", "é", "東", "ﻼ", "𐐨"];
  // Many begin alike for longer than is compared at once, and some are the beginning of others.
  const term = () =>
    "shared".repeat(Math.floor(random() * 3)) +
    Array.from({ length: 1 + Math.floor(random() * 7) }, () => letters[Math.floor(random() * letters.length)]).join("");
  const table = createTermTable();
  const numbers = new Map<string, number>();
  let renumbered = 0;
  for (let pass = 0; pass < 60_000; pass += 1) {
    const met = term();
    const number = table.numberOf(met);
    if (number !== (numbers.get(met) ?? numbers.size)) renumbered += 1;
    numbers.set(met, number);
  }
  expect(renumbered).toBe(0);
  expect(numbers.size).toBeGreaterThan(20_000);
  const decoder = new TextDecoder();
  const sorted = Array.from(table.sorted(), (number) => decoder.decode(table.bytesOf(number)));
  expect(sorted).toEqual([...numbers.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  expect(table.byteCount()).toBe(sorted.reduce((sum, one) => sum + Buffer.byteLength(one), 0));
});

test("a table without terms is sorted", () => {
  expect([...createTermTable().sorted()]).toEqual([]);
});
