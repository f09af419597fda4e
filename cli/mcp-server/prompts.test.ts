import { expect, test } from "vitest";
import { commandWords } from "./prompts.ts";

test("arguments are written as a person would write them, and what is not named comes last as it is", () => {
  expect(commandWords({})).toBe("");
  expect(commandWords({ args: "the door is red" })).toBe("the door is red");
  expect(commandWords({ city: "New York", args: "now", days: "3" })).toBe('city="New York" days="3" now');
});

test("quotes and equals signs in a value stay in it", () => {
  expect(commandWords({ say: `it's "so"` })).toBe(`say="it's "'"'"so"'"'""`);
  expect(commandWords({ sum: "a=b" })).toBe('sum="a=b"');
});
