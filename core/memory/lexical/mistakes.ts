// How far apart two spellings are: letters put in, left out, changed, or two neighbours swapped, each place touched once
// (Damerau–Levenshtein, optimal string alignment).

/** Of UTF-16 units; a longer word makes new ones. */
const FIRST_UNITS = 64;

let first = new Uint16Array(FIRST_UNITS);
let second = new Uint16Array(FIRST_UNITS);
let beforeLast = new Uint8Array(FIRST_UNITS);
let last = new Uint8Array(FIRST_UNITS);
let current = new Uint8Array(FIRST_UNITS);

/** At most `limit` + 1, which means: more than the limit, and not counted out. */
export function countMistakes(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  first = putUnits(one, first);
  second = putUnits(other, second);
  return countUnitMistakes(first, one.length, second, other.length, limit);
}

/** The UTF-16 units of a text, in this array or, when it is too short, in another. */
export function putUnits(text: string, into: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const units = into.length < text.length ? new Uint16Array(text.length) : into;
  for (let at = 0; at < text.length; at += 1) units[at] = text.charCodeAt(at);
  return units;
}

/** The same over the first so many units of arrays that may be longer. */
export function countUnitMistakes(
  one: Uint16Array,
  oneLength: number,
  other: Uint16Array,
  otherLength: number,
  limit: number,
): number {
  if (Math.abs(oneLength - otherLength) > limit) return limit + 1;
  // What two words begin and end with alike costs nothing, and most of a near word is that.
  let start = 0;
  let oneEnd = oneLength;
  let otherEnd = otherLength;
  while (start < oneEnd && start < otherEnd && one[start] === other[start]) start += 1;
  while (oneEnd > start && otherEnd > start && one[oneEnd - 1] === other[otherEnd - 1]) {
    oneEnd -= 1;
    otherEnd -= 1;
  }
  if (oneEnd === start || otherEnd === start) return oneEnd - start + otherEnd - start;
  return countBand(one, oneEnd, other, otherEnd, start, limit);
}

/** Over the units [start, end) of either. */
function countBand(
  one: Uint16Array,
  oneEnd: number,
  other: Uint16Array,
  otherEnd: number,
  start: number,
  limit: number,
): number {
  const columns = otherEnd - start;
  if (current.length <= columns) {
    beforeLast = new Uint8Array(columns + 1);
    last = new Uint8Array(columns + 1);
    current = new Uint8Array(columns + 1);
  }
  const edge = Math.min(columns, limit + 1);
  for (let column = 0; column <= edge; column += 1) last[column] = column;
  for (let row = 1; row <= oneEnd - start; row += 1) {
    // Whoever is further from the diagonal than the limit has made more mistakes already.
    const from = Math.max(1, row - limit);
    const to = Math.min(columns, row + limit);
    const unit = one[start + row - 1];
    let least = from === 1 ? Math.min(row, limit + 1) : limit + 1;
    current[from - 1] = least;
    if (to < columns) current[to + 1] = limit + 1;
    for (let column = from; column <= to; column += 1) {
      const changed = unit === other[start + column - 1] ? 0 : 1;
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + changed);
      const swapped =
        row > 1 &&
        column > 1 &&
        unit === other[start + column - 2] &&
        one[start + row - 2] === other[start + column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = Math.min(cost, limit + 1);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    const spare = beforeLast;
    beforeLast = last;
    last = current;
    current = spare;
  }
  return last[columns] ?? limit + 1;
}
