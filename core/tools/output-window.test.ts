import { expect, test } from "vitest";
import { openOutputWindow } from "./output-window.ts";

function printed(limitBytes: number, chunks: readonly (string | Uint8Array)[]): string {
  const window = openOutputWindow(limitBytes);
  for (const chunk of chunks) window.add(Buffer.from(chunk as string));
  return window.print();
}

test("whatever the chunks, the beginning and the end are kept and what is between is counted", () => {
  const text = Array.from({ length: 300 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
  for (const size of [1, 3, 7, 10, 19, 20, 21, 64, 300]) {
    for (const total of [0, 5, 10, 11, 20, 21, 33, 300]) {
      const whole = text.slice(0, total);
      const chunks = whole.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const expected =
        total <= 20
          ? whole
          : `${whole.slice(0, 10)}\n[… ${total - 20} bytes left out; redirect into a file to see them …]\n${whole.slice(-10)}`;
      expect(printed(10, chunks)).toBe(expected);
    }
  }
});

test("a character that the gap cuts in half is left out, and control characters are defused", () => {
  expect(printed(4, ["abcé", "x".repeat(20), "éyz"])).not.toContain("\uFFFD");
  expect(printed(100, ["\x1b[31mred\x1b[0m \0\x07ok\n"])).toBe("red \uFFFD\uFFFDok\n");
  expect(printed(100, [Uint8Array.of(0xff, 0xfe, 65)])).toBe("\uFFFD\uFFFDA");
});
