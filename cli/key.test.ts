import { expect, test } from "vitest";
import { pressedKey } from "./key.ts";

const WANTED = ["y", "a", "n"];

test.each([
  ["y", "y"],
  ["Y", "y"],
  ["n\r", "n"],
  ["yy", "y"],
])("%j answers with %s", (input, key) => {
  expect(pressedKey(input, WANTED)).toBe(key);
});

test.each([
  ["arrow up, whose sequence ends in an A", "\u001b[A"],
  ["a pasted text", "any"],
  ["two different keys at once", "ny"],
  ["Enter alone", "\r"],
  ["another key", "x"],
])("%s is no answer", (_name, input) => {
  expect(pressedKey(input, WANTED)).toBeUndefined();
});
