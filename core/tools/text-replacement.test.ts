import { expect, test } from "vitest";
import { replaceText } from "./text-replacement.ts";

const replace = (text: string, oldText: string, newText: string, all = false) =>
  replaceText(text, oldText, newText, all, "f");

test("the one place is replaced, and new text is taken literally", () => {
  expect(replace("a\nb\nc", "b", "$& $1")).toEqual({
    ok: true,
    value: { text: "a\n$& $1\nc", places: 1, firstLine: 2 },
  });
});

test("a text that stands there twice is refused with its lines, unless all are meant", () => {
  expect(replace("x\ny\nx\n", "x", "z")).toMatchObject({
    failure: { code: "conflict", message: "old_text stands 2 times in f, in lines 1, 3" },
  });
  expect(replace("x\ny\nx\n", "x", "z", true)).toMatchObject({ value: { text: "z\ny\nz\n", places: 2, firstLine: 1 } });
});

test("a text that is not there says how near it is", () => {
  expect(replace("one\n\tif (a) {\n\t\tb\n", "  if (a) {\n  b", "")).toMatchObject({
    failure: { code: "not_found", hint: "but for spaces and tabs it stands at line 2: copy it exactly" },
  });
  expect(replace("one\ntwo\nthree", "two\nfour", "")).toMatchObject({
    failure: { hint: expect.stringContaining("stands at line 2, but what follows differs") },
  });
  expect(replace("one", "same", "same")).toMatchObject({ failure: { code: "invalid" } });
});

test("lines that end in CRLF keep doing so", () => {
  expect(replace("a\r\nb\r\nc\r\n", "a\nb", "x\ny")).toMatchObject({ value: { text: "x\r\ny\r\nc\r\n" } });
});
