import { expect, test } from "vitest";
import { analyze, documentsOf, groupOf, seeded, segmentOf } from "./fixtures/index-group.ts";
import type { IndexDocument, IndexGroup } from "./index-document.ts";
import { countMistakes } from "./mistakes.ts";
import { type LexicalQuery, termsOfQuery } from "./query-terms.ts";
import { parseQuery } from "./query-text.ts";
import { rankDocuments } from "./ranking.ts";

function queryOf(text: string): LexicalQuery {
  const parsed = parseQuery(text, 0);
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return termsOfQuery(parsed.value, analyze);
}

function idsOf(texts: readonly string[], query: string): number[] {
  return rankDocuments([{ segment: segmentOf(documentsOf(texts)), mask: undefined }], queryOf(query), 10)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

type Case = { readonly groups: readonly IndexGroup[]; readonly documents: readonly IndexDocument[] };

function randomCase(random: () => number, count: number): Case {
  const groups = [
    groupOf({}),
    groupOf({ key: "s1", kind: "conversation", sessionId: "s1", author: "owner" }),
    groupOf({ key: "s1", kind: "conversation", sessionId: "s1", author: "agent" }),
    groupOf({ key: "s2", kind: "conversation", sessionId: "s2" }),
  ];
  // Squaring makes low word numbers frequent, as in real texts.
  const word = () => `w${String.fromCharCode(97 + Math.floor(random() * 3))}q${Math.floor(random() ** 2 * 60)}x`;
  const text = (most: number) => Array.from({ length: Math.floor(random() * most) }, word).join(" ");
  const documents = Array.from({ length: count }, (_, index) => ({
    id: Math.floor(random() * 2 ** 40) * 1_000 + index,
    group: Math.floor(random() * groups.length),
    title: text(6),
    text: text(90),
    atMs: 0,
    place: Math.floor(random() * 2 ** 40),
  }));
  return { groups, documents };
}

type Judged = {
  readonly documents: readonly IndexDocument[];
  readonly dead: readonly boolean[];
  readonly allowed: readonly boolean[];
};

/** BM25 straight from its formula, with maps, over pieces of one corpus. */
function plainRanking(pieces: readonly Judged[], groups: readonly IndexGroup[], query: LexicalQuery, limit: number) {
  const analyzed = pieces.map(({ documents }) => documents.map(({ title, text }) => analyze(`${title} ${text}`)));
  const counted = analyzed.flatMap((piece, which) => piece.filter((_, row) => pieces[which]?.dead[row] !== true));
  const length = (terms: readonly string[]) => Math.max(terms.length, 20);
  const average = counted.reduce((sum, terms) => sum + length(terms), 0) / counted.length;
  const begins = (prefix: string) => (term: string) => term.startsWith(prefix);
  const counters = [
    ...query.terms.map((wanted) => ({ exact: true, holds: (term: string) => term === wanted })),
    ...query.prefixes.map(({ prefix }) => ({ exact: false, holds: begins(prefix) })),
  ];
  const weighed = counters.map(({ exact, holds }) => {
    const found = counted.filter((terms) => terms.some(holds)).length;
    return { exact, holds, idf: Math.log(1 + (counted.length - found + 0.5) / (found + 0.5)) };
  });
  const scoreOf = (terms: readonly string[]) => {
    let score = 0;
    for (const { exact, holds, idf } of weighed) {
      const frequency = terms.filter(holds).length;
      if (frequency === 0) continue;
      const impact = (frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * length(terms)) / average));
      score += idf * (exact ? Math.fround(impact) : impact);
    }
    return score;
  };
  const holdsAll = (
    terms: readonly string[],
    { terms: wanted = [], prefix }: { terms?: readonly string[]; prefix?: { prefix: string } },
  ) => (prefix === undefined ? wanted.every((term) => terms.includes(term)) : terms.some(begins(prefix.prefix)));
  const rows = pieces.flatMap(({ documents, dead, allowed }, which) =>
    documents.map((document, row) => {
      const terms = analyzed[which]?.[row] ?? [];
      const group = groups[document.group];
      const talk = group?.kind === "conversation" ? group.sessionId : undefined;
      const { id, place = 0 } = document;
      return { id, place, talk, terms, gone: dead[row] === true, allowed: allowed[row] === true, own: scoreOf(terms) };
    }),
  );
  const beside = new Map<(typeof rows)[number], number>();
  const living = rows.filter(({ gone }) => !gone).sort((a, b) => a.place - b.place);
  for (const chain of Map.groupBy(living, ({ talk }) => talk).values())
    for (const [at, row] of chain.entries())
      if (row.talk !== undefined) beside.set(row, 0.3 * (chain[at - 1]?.own ?? 0) + 0.15 * (chain[at + 1]?.own ?? 0));
  return rows
    .flatMap((row) => {
      const { id, terms } = row;
      const score = row.own + (beside.get(row) ?? 0);
      const passes =
        row.allowed &&
        query.required.every((condition) => holdsAll(terms, condition)) &&
        !query.excluded.some((condition) => holdsAll(terms, condition));
      return passes && score > 0 ? [{ id, score }] : [];
    })
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, limit);
}

test("the ranking is that of the formula: masks, the dead, prefixes, conditions and conversations included", () => {
  const random = seeded(7);
  let ranked = 0;
  for (let round = 0; round < 60; round += 1) {
    const { groups, documents } = randomCase(random, 40 + round * 3);
    const known = documents.flatMap(({ text }) => text.split(" ")).filter((word) => word !== "");
    const word = () => known[Math.floor(random() * known.length)] ?? "";
    const words = Array.from({ length: 1 + (round % 7) }, word);
    if (round % 3 === 1) words.push(`${word().slice(0, 4)}*`);
    if (round % 4 === 1) words.push(`+${word()}`);
    if (round % 5 === 1) words.push(`-${word()}`, "NOT", `${word().slice(0, 5)}*`);
    const query = queryOf(words.join(" "));
    const share = round % 2 === 0 ? 0 : 0.3;
    const pieces = 1 + (round % 3);
    const judged = Array.from({ length: pieces }, (_, piece): Judged => {
      const own = documents.filter((_, index) => index % pieces === piece);
      const dead = own.map(() => random() < share);
      return { documents: own, dead, allowed: dead.map((gone) => !gone && random() >= share) };
    });
    const inputs = judged.map((piece) => ({
      segment: segmentOf(piece.documents, groups),
      mask: share === 0 ? undefined : Uint8Array.from(piece.allowed, Number),
      dead: share === 0 ? undefined : Uint8Array.from(piece.dead, Number),
    }));
    const expected = plainRanking(judged, groups, query, 15);
    const found = rankDocuments(inputs, query, 15);
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    for (const [index, { score, segment, row, id }] of found.entries()) {
      expect(score).toBeCloseTo(expected[index]?.score ?? Number.NaN, 9);
      expect(inputs[segment]?.segment.ids[row]).toBe(id);
    }
    ranked += found.length;
  }
  expect(ranked).toBeGreaterThan(400);
});

/** More seeds than a test run tries by itself. */
const SEEDS = Number(process.env.CLAWD_SEEDS ?? "12");

test("how documents are divided into segments, and what is dead beside them, changes no answer", () => {
  let ranked = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seeded(seed);
    const { groups, documents } = randomCase(random, 40 + Math.floor(random() * 300));
    const known = documents.flatMap(({ text }) => text.split(" ")).filter((word) => word !== "");
    const word = () => known[Math.floor(random() * known.length)] ?? "";
    // Other words, a misspelt one among them, are the same with any division, too.
    const words = [word(), word(), `${word()}z`, `${word().slice(0, 3)}*`, ...(seed % 3 === 0 ? [`-${word()}`] : [])];
    const query = queryOf(words.join(" "));
    const living = documents.filter(() => random() < 0.8);
    const isDead = (document: IndexDocument) => !living.includes(document);
    // As the store builds it: conversation by conversation, in their order.
    const order = [...living].sort((a, b) => a.group - b.group || (a.place ?? 0) - (b.place ?? 0));
    const whole = rankDocuments([{ segment: segmentOf(order, groups), mask: undefined }], query, 50);
    const parts = 2 + Math.floor(random() * 5);
    const part = documents.map(() => Math.floor(random() * parts));
    const divided = Array.from({ length: parts }, (_, which) => {
      const own = documents.filter((_document, index) => part[index] === which);
      const dead = Uint8Array.from(own, (document) => (isDead(document) ? 1 : 0));
      return { segment: segmentOf(own, groups), mask: dead.map((gone) => 1 - gone), dead };
    });
    const found = rankDocuments(divided, query, 50);
    const shown = (hits: readonly { readonly id: number; readonly score: number }[]) =>
      hits.map(({ id, score }) => `${id} ${score.toPrecision(12)}`);
    expect(shown(found), `seed ${seed}`).toEqual(shown(whole));
    ranked += found.length;
  }
  expect(ranked).toBeGreaterThan(SEEDS);
});

test("what is filtered away changes no score", () => {
  const { documents } = randomCase(seeded(3), 300);
  const files = documents.map((document) => ({ ...document, group: 0 }));
  const query = queryOf(
    files
      .slice(0, 3)
      .map(({ text }) => text.slice(0, 20))
      .join(" "),
  );
  const whole = rankDocuments([{ segment: segmentOf(files), mask: undefined }], query, 300);
  const mask = Uint8Array.from(files, (_, index) => index % 2);
  const filtered = rankDocuments([{ segment: segmentOf(files), mask }], query, 300);
  expect(filtered).toEqual(whole.filter(({ row }) => row % 2 === 1));
});

test("equal scores are ordered by id, and empty segments and queries give nothing", () => {
  const same = [9, 3, 7, 1].map((id) => ({ id, group: 0, title: "", text: "green tea", atMs: 0 }));
  const halves = [same.slice(0, 2), [], same.slice(2)].map((part) => ({ segment: segmentOf(part), mask: undefined }));
  const ids = (text: string) => rankDocuments(halves, queryOf(text), 3).map(({ id }) => id);
  expect(ids("tea")).toEqual([1, 3, 7]);
  expect(ids("coffee")).toEqual([]);
  expect(ids("")).toEqual([]);
  expect(ids("the and of")).toEqual([]);
  expect(rankDocuments([], queryOf("tea"), 3)).toEqual([]);
  expect(rankDocuments(halves, queryOf("tea"), 0)).toEqual([]);
});

test("a query leaves nothing behind for the next one", () => {
  const inputs = [{ segment: segmentOf(documentsOf(["apple pie", "pear pie", "plum"])), mask: Uint8Array.of(0, 1, 1) }];
  const first = rankDocuments(inputs, queryOf("pear"), 5);
  for (const text of ["pie apple", "p* -pie", "+plum pie", "pi*"]) rankDocuments(inputs, queryOf(text), 5);
  expect(rankDocuments(inputs, queryOf("pear"), 5)).toEqual(first);
});

test("signs narrow: +must, -not, NOT, pre* and phrases, whose words all must be there", () => {
  const texts = [
    "red green tea",
    "green tea",
    "red coffee",
    "authentication of users",
    "author's tea",
    "connection pools",
  ];
  expect(idsOf(texts, "tea")).toEqual([1, 2, 5]);
  expect(idsOf(texts, "tea -red")).toEqual([2, 5]);
  expect(idsOf(texts, "tea NOT red")).toEqual([2, 5]);
  expect(idsOf(texts, "+red tea")).toEqual([1, 3]);
  expect(idsOf(texts, "auth*")).toEqual([4, 5]);
  expect(idsOf(texts, "tea -auth*")).toEqual([1, 2]);
  expect(idsOf(texts, '"green tea" coffee')).toEqual([1, 2]);
  expect(idsOf(texts, "-red")).toEqual([]);
  // The index holds "connect".
  expect(idsOf(texts, "connecti*")).toEqual([6]);
  expect(idsOf(["東京の天気", "京都"], "東")).toEqual([1]);
});

test("a word that nobody wrote stands for its nearest ones, a known one only for itself", () => {
  const texts = ["the retriever dog", "a receiver of mail", "retriever retrieved", "retry policy"];
  expect(idsOf(texts, "retreiver")).toEqual([1, 3]);
  expect(idsOf(texts, "polciy")).toEqual([4]);
  expect(idsOf(texts, "receiver")).toEqual([2]);
  expect(idsOf(texts, "dgo")).toEqual([]);
});

test.each([
  ["abcd", "abcd", 0],
  ["abcd", "abdc", 1],
  ["abcd", "abd", 1],
  ["abcd", "xabcd", 1],
  ["abcd", "badc", 2],
  ["abcd", "wxyz", 3],
  ["abcd", "abcdefgh", 3],
])("%s and %s are %i mistakes apart, counted to two", (one, other, mistakes) => {
  expect(Math.min(3, countMistakes(one, other, 2))).toBe(mistakes);
});

test("neighbours in a conversation are found with what they stand beside, those of another one are not", () => {
  const groups = [
    groupOf({ key: "a", kind: "conversation", sessionId: "a", author: "owner" }),
    groupOf({ key: "a", kind: "conversation", sessionId: "a", author: "agent" }),
    groupOf({ key: "b", kind: "conversation", sessionId: "b" }),
  ];
  const lines: [number, string][] = [
    [0, "hello"],
    [1, "the zebra ran"],
    [0, "oh"],
    [2, "zebra"],
    [2, "fine"],
    [0, "bye"],
  ];
  const documents = lines.map(([group, text], id) => ({ id, group, title: "", text, atMs: 0, place: id }));
  const ranked = rankDocuments([{ segment: segmentOf(documents, groups), mask: undefined }], queryOf("zebra"), 10);
  expect(ranked.map(({ id }) => id)).toEqual([1, 3, 2, 4, 0]);
});
