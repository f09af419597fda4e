// The algorithm of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two departures of
// his own reference program ("bli" → "ble", "logi" → "log").

const CONSONANT = "[^aeiou]";
const VOWEL = "[aeiouy]";
const CONSONANTS = `${CONSONANT}[^aeiouy]*`;
const VOWELS = `${VOWEL}[aeiou]*`;

/** The paper's measure m of a stem: how many vowel–consonant pairs it holds. */
const MEASURE_OVER_0 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}`);
const MEASURE_IS_1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}(${VOWELS})?$`);
const MEASURE_OVER_1 = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`);
const HAS_VOWEL = new RegExp(`^(${CONSONANTS})?${VOWEL}`);
/** Ends consonant, vowel, consonant other than w, x, y: a short word that wants its "e" back. */
const SHORT_END = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`);
const DOUBLE_CONSONANT = /([^aeiouylsz])\1$/;

const STEP_2: ReadonlyMap<string, string> = new Map([
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
]);
const STEP_2_END =
  /^(.+?)(ational|tional|enci|anci|izer|bli|alli|entli|eli|ousli|ization|ation|ator|alism|iveness|fulness|ousness|aliti|iviti|biliti|logi)$/;

const STEP_3: ReadonlyMap<string, string> = new Map([
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
]);
const STEP_3_END = /^(.+?)(icate|ative|alize|iciti|ical|ful|ness)$/;

const STEP_4_END = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/;
const STEP_4_ION_END = /^(.+?[st])ion$/;

/** The stem of a word of lower-case ASCII letters; shorter than three letters comes back unchanged. */
export function stemWord(word: string): string {
  if (word.length < 3) return word;
  // A leading y is a consonant; upper case hides it from the vowel classes.
  let stem = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  stem = stripPlural(stem);
  stem = stripPast(stem);
  if (/^.+y$/.test(stem) && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceEnd(stem, STEP_2_END, STEP_2);
  stem = replaceEnd(stem, STEP_3_END, STEP_3);
  stem = stripDerivation(stem);
  stem = stripFinalE(stem);
  return stem.toLowerCase();
}

function stripPlural(word: string): string {
  if (/(ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function stripPast(word: string): string {
  if (word.endsWith("eed")) return MEASURE_OVER_0.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const found = /^(.+?)(ed|ing)$/.exec(word);
  const stem = found?.[1];
  if (stem === undefined || !HAS_VOWEL.test(stem)) return word;
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (DOUBLE_CONSONANT.test(stem)) return stem.slice(0, -1);
  return SHORT_END.test(stem) ? `${stem}e` : stem;
}

function replaceEnd(word: string, end: RegExp, replacements: ReadonlyMap<string, string>): string {
  const [, stem, suffix] = end.exec(word) ?? [];
  if (stem === undefined || suffix === undefined || !MEASURE_OVER_0.test(stem)) return word;
  return stem + (replacements.get(suffix) ?? suffix);
}

function stripDerivation(word: string): string {
  const stem = STEP_4_END.exec(word)?.[1] ?? STEP_4_ION_END.exec(word)?.[1];
  return stem !== undefined && MEASURE_OVER_1.test(stem) ? stem : word;
}

function stripFinalE(word: string): string {
  let stem = word;
  if (word.endsWith("e")) {
    const shorter = word.slice(0, -1);
    const drop = MEASURE_OVER_1.test(shorter) || (MEASURE_IS_1.test(shorter) && !SHORT_END.test(shorter));
    if (drop) stem = shorter;
  }
  return stem.endsWith("ll") && MEASURE_OVER_1.test(stem) ? stem.slice(0, -1) : stem;
}
