import { expect, test } from "vitest";
import { escapeCell, escapeControls, escapeLine, shorten } from "./escape.ts";

test.each([
  ["an escape sequence that clears the screen", "\u001b[2J", "␛[2J"],
  ["a title that a terminal would type back", "\u001b]0;rm -rf\u0007", "␛]0;rm -rf␇"],
  ["a one-byte CSI", "\u009b31m", "\\u009b31m"],
  ["a backspace that hides what stands there", "safe\b\b\b\bevil", "safe␈␈␈␈evil"],
  ["a carriage return that overwrites the line", "evil\rsafe", "evilsafe"],
  ["text that reads backwards", "\u202etxt.exe", "\\u202etxt.exe"],
  ["a line break that only some programs know", "a\u2028b", "a\\u2028b"],
  ["delete", "\u007f", "␡"],
])("%s becomes visible", (_name, text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test("plain text of any language stays as it is", () => {
  const text = "Grüße 你好 🎉 👩‍💻\tund\n新";
  expect(escapeControls(text)).toBe(text);
});

test("escaping chunk by chunk gives the same as escaping the whole", () => {
  const text = "a\u001b[31mred\u001b[0m\r\n\u202e🎉b";
  for (let cut = 0; cut <= text.length; cut++) {
    expect(escapeControls(text.slice(0, cut)) + escapeControls(text.slice(cut))).toBe(escapeControls(text));
  }
});

test("a line stays one line, and a cell one cell", () => {
  expect(escapeLine("a\nb\tc\r\nd")).toBe("a b c d");
  expect(escapeCell("a\tb\nc\\d")).toBe("a\\tb\\nc\\\\d");
});

test("shortening never halves a character", () => {
  expect(shorten("abc", 3)).toBe("abc");
  expect(shorten("abcdef", 4)).toBe("abc…");
  expect(shorten("ab🎉cd", 4)).toBe("ab…");
});
