import { expect, test } from "vitest";
import { promptArguments, promptText, readPrompt } from "./prompts.ts";

const prompt = readPrompt({ name: "p", arguments: [{ name: "a", required: true }, { name: "b" }] });

function given(text: string): unknown {
  if (prompt === undefined) throw new Error("it has a name");
  try {
    return promptArguments(prompt, text);
  } catch (cause) {
    return cause instanceof Error ? cause.message : cause;
  }
}

test.each([
  ["one", { a: "one" }],
  ["one two three", { a: "one", b: "two three" }],
  ['"one two" three', { a: "one two", b: "three" }],
  ["b=two one", { a: "one", b: "two" }],
  ['a="one two"', { a: "one two" }],
  ["c=3", { a: "c=3" }],
  ["", '"a" is missing; it takes: a b'],
  ["b=two", '"a" is missing; it takes: a b'],
  ["a=1 b=2 three", '"three" is one argument too many; it takes: a b'],
])("%j is understood as arguments", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test("the words of a prompt are said as the person's, those of an assistant are marked, and what is no text is named", () => {
  const messages = [
    { role: "user", content: { type: "text", text: "hello" } },
    { role: "assistant", content: { type: "text", text: "hi" } },
    { role: "user", content: { type: "resource", resource: { uri: "memo:1", text: "a memo" } } },
    { role: "user", content: { type: "image", data: "" } },
    "nonsense",
  ];
  expect(promptText({ messages })).toBe(
    "hello\n\n[the assistant:] hi\n\n[resource memo:1]\na memo\n\n[image that cannot be said in words]",
  );
});
