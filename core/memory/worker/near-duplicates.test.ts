import { expect, test } from "vitest";
import { foldNearDuplicates } from "./near-duplicates.ts";

const long = Array.from({ length: 120 }, (_, index) => `word${index}`).join(" ");
const file = (text: string) => ({ text, author: "file" });

test("copies stand behind the first of them, whatever their case and punctuation", () => {
  const texts = [
    "Deploys happen on Fridays.",
    "Something else",
    "deploys happen on FRIDAYS",
    "something  else!",
    "third",
  ];
  expect(foldNearDuplicates(texts.map(file))).toEqual([0, 1, 0, 1, 4]);
});

test("a long text with one changed word is the same, with other halves it is not", () => {
  const changed = long.replace("word60", "other");
  const half = `${long.slice(0, long.length / 2)} ${"completely different things are said here ".repeat(20)}`;
  expect(foldNearDuplicates([long, changed, half].map(file))).toEqual([0, 0, 2]);
});

test("what somebody said is not hidden behind what differs by a word, however long it is", () => {
  const said = (text: string) => ({ text, author: "owner" });
  const changed = long.replace("word60", "other");
  expect(foldNearDuplicates([long, changed, `${long}!`].map(said))).toEqual([0, 1, 0]);
});

test("an owner's words are not hidden behind a stranger's copy", () => {
  const texts = [
    { text: "the key lies under the mat", author: "stranger" },
    { text: "the key lies under the mat", author: "owner" },
    { text: "The key lies under the mat.", author: "owner" },
  ];
  expect(foldNearDuplicates(texts)).toEqual([0, 1, 1]);
});

test("texts without words are the same as each other only", () => {
  expect(foldNearDuplicates(["", "!!!", "x"].map(file))).toEqual([0, 0, 2]);
  expect(foldNearDuplicates([])).toEqual([]);
});

test("the order of words matters", () => {
  const texts = ["the dog bites the man in the old town", "the man bites the dog in the old town"];
  expect(foldNearDuplicates(texts.map(file))).toEqual([0, 1]);
});
