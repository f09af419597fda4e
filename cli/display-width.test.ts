import { expect, test } from "vitest";
import { clipToWidth, displayWidth, wrapWords } from "./display-width.ts";

test("wide letters count two columns and marks none", () => {
  expect(displayWidth("abc")).toBe(3);
  expect(displayWidth("你好")).toBe(4);
  expect(displayWidth("e\u0301")).toBe(1);
});

test("clipping keeps to the columns, also with wide letters, and never halves one", () => {
  expect(clipToWidth("abc", 3)).toBe("abc");
  expect(clipToWidth("abcdef", 4)).toBe("abc…");
  expect(clipToWidth("你好吗", 4)).toBe("你…");
  expect(clipToWidth("🎉🎉🎉", 5)).toBe("🎉🎉…");
});

test("lines break at spaces, go on under their beginning, and leave long words whole", () => {
  expect(wrapWords("  → one two three", 10, "    ")).toBe("  → one\n    two\n    three");
  expect(wrapWords("see /a/very/long/path now", 8, "  ")).toBe("see\n  /a/very/long/path\n  now");
  expect(wrapWords("a b\nc d", 2, "")).toBe("a\nb\nc\nd");
});
