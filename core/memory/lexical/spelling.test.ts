import { expect, test } from "vitest";
import { termCount, termText } from "./dictionary.ts";
import { documentsOf, seeded, segmentOf } from "./fixtures/index-group.ts";
import { countMistakes } from "./mistakes.ts";
import type { Segment } from "./segment.ts";
import { visitSpeltLike } from "./spelling.ts";
import { termsEnding } from "./term-ends.ts";

/** Letters that no rule of the analyzer changes: of one to four bytes, and one of two UTF-16 units. */
const LETTERS = ["a", "b", "c", "q", "я", "ж", "ﻼ".normalize("NFKC"), "ა", "𐐨"];

function speltLike(segment: Segment, word: string, limit: number): string[] {
  const found: string[] = [];
  visitSpeltLike(segment, word, limit, (term, mistakes) => found.push(`${termText(segment, term)} ${mistakes}`));
  return found.sort();
}

function termsOf(segment: Segment): string[] {
  return Array.from({ length: termCount(segment) }, (_, number) => termText(segment, number));
}

/** By a look at every term. */
function speltLikePlainly(terms: readonly string[], word: string, limit: number): string[] {
  return terms
    .map((term) => [term, countMistakes(word, term, limit)] as const)
    .filter(([, mistakes]) => mistakes <= limit)
    .map(([term, mistakes]) => `${term} ${mistakes}`)
    .sort();
}

test.each([2, 4, LETTERS.length])(
  "of %i letters, the near words are those that a look at every word finds",
  (count) => {
    const random = seeded(count);
    const pick = () => LETTERS[Math.floor(random() * count)] ?? "a";
    const wordOf = (least: number, most: number) =>
      Array.from({ length: least + Math.floor(random() * (most - least)) }, pick).join("");
    const segment = segmentOf(documentsOf([Array.from({ length: 2_000 }, () => wordOf(2, 14)).join(" ")]));
    const terms = termsOf(segment);
    let near = 0;
    for (let pass = 0; pass < 200; pass += 1) {
      const word = wordOf(4, 13);
      const limit = word.length >= 8 ? 2 : 1;
      const plain = speltLikePlainly(terms, word, limit);
      expect(speltLike(segment, word, limit)).toEqual(plain);
      near += plain.length;
    }
    expect(near).toBeGreaterThan(30);
  },
);

test("a mistake in any place of a word leaves it near, and so do two", () => {
  const words = ["penicillin", "квитанция", "𐐨𐐩𐐪𐐫𐐬𐐭"];
  const segment = segmentOf(documentsOf([words.join(" ")]));
  const terms = termsOf(segment);
  for (const word of words) {
    for (const once of spoil(word)) {
      expect(speltLike(segment, once, 2).map((found) => found.split(" ")[0])).toContain(word);
      for (const twice of spoil(once)) expect(speltLike(segment, twice, 2)).toEqual(speltLikePlainly(terms, twice, 2));
    }
  }
});

/** With one letter left out, changed, put in, or two swapped, in every place. */
function spoil(word: string): string[] {
  const letters = Array.from(word);
  return letters.flatMap((letter, at) => {
    const [before, rest] = [letters.slice(0, at), letters.slice(at + 1)];
    const swapped = [...before, ...rest.slice(0, 1), letter, ...rest.slice(1)];
    const spoilt = [[...before, ...rest], [...before, "x", ...rest], [...before, "x", letter, ...rest], swapped];
    return spoilt.map((changed) => changed.join(""));
  });
}

test("terms are found by how they end, whatever their length", () => {
  const random = seeded(9);
  const word = () =>
    Array.from({ length: 1 + Math.floor(random() * 6) }, () => "abя"[Math.floor(random() * 3)]).join("");
  const segment = segmentOf(documentsOf([Array.from({ length: 900 }, word).join(" ")]));
  const terms = termsOf(segment);
  expect([...segment.termsByEnd()].sort((a, b) => a - b)).toEqual(terms.map((_, number) => number));
  for (const end of ["a", "ba", "я", "aя", "bbb", "abab", "q"]) {
    const found = Array.from(termsEnding(segment, new TextEncoder().encode(end)), (number) => terms[number] ?? "");
    expect(found.sort()).toEqual(terms.filter((term) => term.endsWith(end)).sort());
  }
});
