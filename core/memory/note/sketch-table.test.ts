import { expect, test } from "vitest";
import { seededBelow } from "../../../tests/kit/seeded.ts";
import { likeness, SKETCH_LENGTH, sketchTexts } from "../lexical/shingles.ts";
import { sketchTable } from "./sketch-table.ts";

test("texts of a likeness of .8 and more are found among thousands, whatever the order they came in", () => {
  const below = seededBelow(7);
  const sentence = () => Array.from({ length: 30 }, () => `word${below(500)}`);
  const texts: string[] = [];
  for (let index = 0; index < 1_500; index += 1) {
    const words = sentence();
    texts.push(words.join(" "), [...words.slice(0, 29), `other${index}`].join(" "), sentence().join(" "));
  }
  const table = sketchTable();
  const sketches = sketchTexts(texts);
  for (let start = 0; start < sketches.length; start += 700 * SKETCH_LENGTH) {
    table.add(sketches.subarray(start, start + 700 * SKETCH_LENGTH));
  }
  expect(table.notes).toBe(texts.length);
  let missed = 0;
  let strangers = 0;
  for (let first = 0; first < texts.length; first += 3) {
    expect(likeness(texts[first] ?? "", texts[first + 1] ?? "")).toBeGreaterThanOrEqual(0.8);
    const alike = table.alike(first);
    if (!alike.includes(first + 1)) missed += 1;
    strangers += alike.length - 1;
  }
  expect(missed).toBeLessThanOrEqual(1);
  expect(strangers).toBeLessThan(texts.length / 100);
});

test("case, punctuation and order of the words do not count; texts without words are like nothing", () => {
  expect(likeness("The door is blue.", "the DOOR, is blue")).toBe(1);
  expect(likeness("blue is the door", "the door is blue")).toBe(1);
  expect(likeness("the door is blue", "the door is green")).toBeLessThan(0.8);
  expect(likeness("…", "…")).toBe(0);
  const table = sketchTable();
  table.add(sketchTexts(["…", "!", "ein Wort", "EIN wort"]));
  expect([0, 1, 2, 3].map((note) => table.alike(note))).toEqual([[], [], [3], [2]]);
});

test("of thousands with the same words the newest are told, and quickly", () => {
  const table = sketchTable();
  table.add(sketchTexts(Array.from({ length: 20_000 }, () => "the same words again")));
  const alike = table.alike(5);
  expect(alike[0]).toBe(19_999);
  expect(alike.length).toBeLessThan(300);
});
