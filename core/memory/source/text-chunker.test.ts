import { expect, test } from "vitest";
import { cutText, PDF_CUT, TEXT_CUT, type TextCut } from "./text-chunker.ts";

function chunksOf(text: string, cut?: TextCut): readonly string[] {
  const result = cutText(text, cut);
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

/** A generator of numbers that is the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % sides;
  };
}

test("three thousand characters are at least three chunks, and a short text is one, trimmed", () => {
  expect(chunksOf("word ".repeat(600)).length).toBeGreaterThanOrEqual(3);
  expect(chunksOf("  short \n")).toEqual(["short"]);
  expect(chunksOf(" \n ")).toEqual([]);
  expect(chunksOf("x".repeat(1_000))).toHaveLength(1);
});

test("a cut prefers the end of a paragraph, then of a sentence, then of a word", () => {
  const cut = { limitChars: 40, overlapChars: 0, minChars: 5 };
  expect(chunksOf("One two three. Four five.\n\nSix seven. Eight nine ten eleven.", cut)[0]).toBe(
    "One two three. Four five.",
  );
  expect(chunksOf("One two three. Four five six. Seven eight nine ten eleven.", cut)[0]).toBe(
    "One two three. Four five six.",
  );
  expect(chunksOf("one two three four five six seven eight nine ten", cut)[0]).toBe(
    "one two three four five six seven eight",
  );
  expect(chunksOf("x".repeat(90), cut)).toEqual(["x".repeat(40), "x".repeat(40), "x".repeat(10)]);
});

test("chunks keep to their limit, cover the text, overlap and are whole characters", () => {
  const alphabet = ["a", "bc", "😀", " ", " ", ". ", "\n\n", "\n", "é", "!", "長い", "\r\n\r\n"];
  for (let seed = 1; seed <= 300; seed += 1) {
    const roll = dice(seed);
    const text = Array.from({ length: 50 + roll(3_000) }, () => alphabet[roll(alphabet.length)]).join("");
    const limitChars = 2 + roll(400);
    const cut = { limitChars, overlapChars: roll(limitChars), minChars: roll(limitChars) };
    const chunks = chunksOf(text, seed % 3 === 0 ? TEXT_CUT : seed % 3 === 1 ? PDF_CUT : cut);
    const limit = seed % 3 === 0 ? TEXT_CUT.limitChars : seed % 3 === 1 ? PDF_CUT.limitChars : limitChars;
    let covered = 0;
    for (const chunk of chunks) {
      expect(chunk.length).toBeLessThanOrEqual(limit);
      expect(chunk).toBe(chunk.trim());
      expect(chunk.isWellFormed()).toBe(true);
      const rest = text.slice(covered);
      const at = text.lastIndexOf(chunk, covered + rest.length - rest.trimStart().length);
      expect(at).toBeGreaterThanOrEqual(0);
      covered = Math.max(covered, at + chunk.length);
    }
    expect(text.slice(covered).trim()).toBe("");
  }
});

test("with an overlap, each chunk repeats the end of the one before", () => {
  const text = Array.from({ length: 400 }, (_, index) => `Sentence number ${index}.`).join(" ");
  const chunks = chunksOf(text);
  for (let at = 1; at < chunks.length; at += 1) {
    const start = (chunks[at] ?? "").slice(0, 20);
    expect(chunks[at - 1]).toContain(start);
  }
});

test("an overlap as long as a chunk, lengths that are none, and too many chunks are refused", () => {
  expect(cutText("x", { limitChars: 10, overlapChars: 10, minChars: 0 })).toMatchObject({
    failure: { code: "invalid", message: "an overlap of 10 is not shorter than a chunk of 10" },
  });
  expect(cutText("x", { limitChars: 1.5, overlapChars: 0, minChars: 0 })).toMatchObject({
    failure: { code: "invalid" },
  });
  expect(cutText("x".repeat(100_000), { limitChars: 1_000, overlapChars: 999, minChars: 0 })).toMatchObject({
    failure: { code: "exhausted" },
  });
});
