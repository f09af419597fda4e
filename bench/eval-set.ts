import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { seededBelow } from "../tests/kit/seeded.ts";

export type EvalText = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Of a message; those of one conversation stand together, in their order. */
  readonly session?: string;
};

export type JudgedQuery = { readonly id: string; readonly text: string; readonly relevant: readonly string[] };

export type EvalSet = { readonly documents: readonly EvalText[]; readonly queries: readonly JudgedQuery[] };

/** Numbers queries, and leaves out those that nothing answers any more. */
export function judge<T>(
  asked: readonly T[],
  find: (each: T) => { readonly text: string; readonly relevant: readonly EvalText[] },
): JudgedQuery[] {
  return asked.flatMap((each, index) => {
    const { text, relevant } = find(each);
    return relevant.length === 0 ? [] : [{ id: `q${index}`, text, relevant: relevant.map(({ id }) => id) }];
  });
}

/** As `claw memory eval` reads it, into a folder that is made. */
export async function writeEvalSet(folder: string, { documents, queries }: EvalSet): Promise<void> {
  const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const judgements = queries.flatMap(({ id, relevant }) => relevant.map((document) => `${id}\t${document}\t1\n`));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "docs.jsonl"), lines(documents));
  await writeFile(join(folder, "queries.jsonl"), lines(queries.map(({ id, text }) => ({ id, text }))));
  await writeFile(join(folder, "qrels.tsv"), judgements.join(""));
}

/** The same sentence with so many words mistyped: two letters swapped, one lost, doubled or another. */
export function mistype(text: string, mistakes: number, seed: number): string {
  const pick = seededBelow(seed);
  const words = text.split(" ");
  const long = words.flatMap((word, index) => (/^[a-z]{4,}/i.test(word) ? [index] : []));
  for (let made = 0; made < mistakes && long.length > 0; made += 1) {
    const [index = 0] = long.splice(pick(long.length), 1);
    const word = words[index] ?? "";
    const at = 1 + pick(Math.max(1, word.length - 2));
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    const typed = [
      before + after.charAt(0) + letter + after.slice(1),
      before + after,
      before + letter + letter + after,
    ];
    words[index] = [...typed, `${before}${String.fromCharCode(97 + pick(26))}${after}`][pick(4)] ?? word;
  }
  return words.join(" ");
}

/** What mistakes spoil is chance: each question is mistyped in so many ways. */
const MISTYPED_WAYS = 3;

/** The same questions with two mistakes each. */
export function mistypedSet({ documents, queries }: EvalSet): EvalSet {
  const ways = Array.from({ length: MISTYPED_WAYS }, (_, way) => way);
  const mistyped = queries.flatMap((query, at) =>
    ways.map((way) => ({ ...query, id: `${query.id}-${way}`, text: mistype(query.text, 2, at * 7 + way) })),
  );
  return { documents, queries: mistyped };
}
