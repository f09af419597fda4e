import { expect, test } from "vitest";
import { collectOutput, OUTPUT_LIMIT_BYTES } from "./call-output.ts";

const KEPT = 128 * 1024;
const bytes = (text: string) => new TextEncoder().encode(text);
const numbered = (length: number) =>
  Array.from({ length: Math.ceil(length / 8) }, (_, index) => `${String(index).padStart(7, "0")}\n`)
    .join("")
    .slice(0, length);

test.each([0, 1, 1000, KEPT - 1, KEPT, KEPT + 1, 2 * KEPT - 1, 2 * KEPT, 2 * KEPT + 1, 5 * KEPT + 77])(
  "of %i bytes the beginning and the end are kept, whatever the pieces, and what is between is counted",
  (total) => {
    const whole = numbered(total);
    for (const size of [977, 65_536, 3 * KEPT]) {
      const output = collectOutput();
      for (let at = 0; at < total; at += size) expect(output.add(bytes(whole.slice(at, at + size)))).toBe(true);
      const gap = `\n[… ${(total - 2 * KEPT).toLocaleString("en-US")} bytes left out …]\n`;
      const kept = total <= 2 * KEPT ? whole : whole.slice(0, KEPT) + gap + whole.slice(-KEPT);
      expect(output.print() === kept).toBe(true);
    }
  },
);

test("a character that is cut by the border of two pieces is whole again, and one that is cut by the gap is left out", () => {
  const output = collectOutput();
  for (const byte of bytes("größe €\n")) output.add(Uint8Array.of(byte));
  expect(output.takeLines()).toBe("größe €");
  expect(output.print()).toBe("größe €\n");
  const long = collectOutput();
  long.add(bytes(`a${"€".repeat(2 * KEPT)}b`));
  expect(long.print()).not.toContain("\uFFFD");
});

test("lines are taken when they are whole, each once, and of many the last ones", () => {
  const output = collectOutput();
  output.add(bytes("one\r\ntw"));
  expect(output.takeLines()).toBe("one");
  expect(output.takeLines()).toBe("");
  output.add(bytes("o\nthree\nfour"));
  expect(output.takeLines()).toBe("two\nthree");
  output.add(bytes(`\n${numbered(10 * KEPT)}`));
  const last = output.takeLines();
  expect(last.length).toBeLessThan(2_001);
  expect(
    last.endsWith(
      numbered(10 * KEPT)
        .slice(-8)
        .trim(),
    ),
  ).toBe(true);
  expect(last).toMatch(/^(\d{7}\n)*\d{7}$/);
});

test("what is more than a call may put out is refused", () => {
  const output = collectOutput();
  const piece = new Uint8Array(1024 * 1024);
  for (let at = 0; at < OUTPUT_LIMIT_BYTES; at += piece.length) expect(output.add(piece)).toBe(true);
  expect(output.add(Uint8Array.of(1))).toBe(false);
});
