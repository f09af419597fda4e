import { ok, type Result } from "../../domain/failure.ts";
import { likeness } from "../lexical/shingles.ts";
import type { KeptNote, NoteFold } from "./note-fold.ts";
import { sketchTable } from "./sketch-table.ts";

/** From here on two notes say nearly the same. */
const LIKENESS_LEAST = 0.8;
const SIMILAR_LIMIT_NOTES = 3;
/** Texts whose sketches one task makes. */
const SKETCH_BATCH_NOTES = 1_024;
/** What is read of other notes to compare one with them: some milliseconds' worth. */
const COMPARED_LIMIT_CHARS = 65_536;

/** Makes sketches of texts, as `sketchTexts` does, away from the main thread. */
export type Sketch = (texts: readonly string[]) => Promise<Result<Uint32Array>>;

/** Finds notes that say nearly what another one says. */
export type SimilarNotes = {
  /** Best first. `isCandidate` says which notes may be told. */
  find(fold: NoteFold, note: KeptNote, isCandidate: (other: KeptNote) => boolean): Promise<Result<readonly KeptNote[]>>;
};

export function similarNotes(sketch: Sketch): SimilarNotes {
  const table = sketchTable();
  let catching: Promise<Result<void>> | undefined;

  async function catchUp(fold: NoteFold): Promise<Result<void>> {
    while (table.notes < fold.nextNumber) {
      const until = Math.min(fold.nextNumber, table.notes + SKETCH_BATCH_NOTES);
      const texts: string[] = [];
      for (let number = table.notes; number < until; number += 1) texts.push(textAt(fold, number));
      const made = await sketch(texts);
      if (!made.ok) return made;
      table.add(made.value);
    }
    return ok(undefined);
  }

  /** Those who wait together are served by one task. */
  async function cover(fold: NoteFold, number: number): Promise<Result<void>> {
    while (number >= table.notes) {
      catching ??= catchUp(fold).finally(() => {
        catching = undefined;
      });
      const caughtUp = await catching;
      if (!caughtUp.ok) return caughtUp;
    }
    return ok(undefined);
  }

  return {
    async find(fold, note, isCandidate) {
      const done = await cover(fold, note.number);
      if (!done.ok) return done;
      const found: { readonly other: KeptNote; readonly likeness: number }[] = [];
      let leftChars = COMPARED_LIMIT_CHARS;
      for (const number of table.alike(note.number)) {
        const other = fold.notes.get(fold.byNumber.get(number) ?? "");
        if (other === undefined || !isCandidate(other)) continue;
        leftChars -= note.text.length + other.text.length;
        const alike = likeness(note.text, other.text);
        if (alike >= LIKENESS_LEAST) found.push({ other, likeness: alike });
        if (leftChars < 0) break;
      }
      found.sort((one, two) => two.likeness - one.likeness || two.other.number - one.other.number);
      return ok(found.slice(0, SIMILAR_LIMIT_NOTES).map(({ other }) => other));
    },
  };
}

function textAt(fold: NoteFold, number: number): string {
  return fold.notes.get(fold.byNumber.get(number) ?? "")?.text ?? "";
}
