import { expect, test } from "vitest";
import { expandVariables } from "./expand.ts";

const env = { WORD: "word", EMPTY: "", PATTERN: "$&" };

test("variables are put in, also several, and what they hold is not read again", () => {
  expect(expandVariables("a ${WORD} and ${WORD}", env)).toBe("a word and word");
  expect(expandVariables("${PATTERN}", env)).toBe("$&");
});

test("one that is set and empty stays empty, one that is not set is its other text or nothing", () => {
  expect(expandVariables("<${EMPTY}><${EMPTY:-other}><${NONE}><${NONE:-other}><${NONE:-}>", env)).toBe(
    "<><><><other><>",
  );
});

test("what is no whole reference stays as it is written", () => {
  for (const text of ["${WORD", "$WORD", "${}", "${1X}", "${WO RD}"]) expect(expandVariables(text, env)).toBe(text);
});

test("what an object has by nature is no variable", () => {
  expect(expandVariables("<${constructor}>", env)).toBe("<>");
});
