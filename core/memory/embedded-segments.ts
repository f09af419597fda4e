import { ok, type Result } from "../domain/failure.ts";
import { openSegment } from "./lexical/segment.ts";
import type { NoteSegment } from "./note/note-segments.ts";
import type { Notes } from "./note/notes.ts";
import type { EmbeddedSegment, SearchVectors } from "./search-vectors.ts";
import type { SegmentText, Store, StoredSegment } from "./store/store.ts";
import { givenUp, type StoreHolder } from "./store/store-holder.ts";
import { textHashOf } from "./store/text-hash.ts";
import { layOutBlock, viewBlock } from "./vector/vector-block.ts";

/** A segment of notes: it lies in memory, and so do its vectors. */
export function noteSegment({ buffer, dead }: NoteSegment, index: number, notes: Notes): EmbeddedSegment {
  const ids = openSegment(buffer)?.ids ?? new Float64Array();
  return {
    ...{ name: `notes ${index + 1}`, buffer, dead, rows: ids.length },
    file: () => undefined,
    async *texts() {
      const texts = Array.from(ids, (id, row) => {
        const text = notes.textAt(id);
        return text === undefined ? [] : [{ row, title: "", text, textHash: textHashOf("", text) }];
      });
      yield ok(texts.flat());
    },
  };
}

/** Does something with a store while it is open, or fails when it was given up. Whoever closes it waits for the work: `retired` asks it to end. */
export type LendStore = <T>(work: (retired: AbortSignal) => Promise<Result<T>>) => Promise<Result<T>>;

/** Another opening may mean another segment by the same number. */
export function lendWhileHeld(store: Store, holder: StoreHolder): LendStore {
  return (work) => holder.use((open) => (open.store === store ? work(open.retired) : Promise.resolve(givenUp())));
}

/** A segment of the store: its vectors lie in a file beside it. */
export function storedSegment(segment: StoredSegment, store: Store, lend: LendStore): EmbeddedSegment {
  const { segmentId, buffer, documents, dead } = segment;
  return {
    ...{ name: `segment ${segmentId}`, buffer, dead, rows: documents },
    file: (embedderId) => store.vectorFile(segment, embedderId),
    withTexts: (work) => lend((retired) => store.withSegmentTexts(segmentId, (file) => work(file, retired))),
    async *texts() {
      // The store is lent for all of it, so that it is not closed between two batches.
      yield await lend(() => collect(store.segmentTexts(segmentId)));
    },
  };
}

async function collect(
  batches: AsyncIterable<Result<readonly SegmentText[]>>,
): Promise<Result<readonly SegmentText[]>> {
  const rows: SegmentText[] = [];
  for await (const batch of batches) {
    if (!batch.ok) return batch;
    for (const row of batch.value) rows.push(row);
  }
  return ok(rows);
}

/** How many pieces have a vector, how many are still to get one, and how many get none. */
export function countVectors(segments: readonly EmbeddedSegment[], vectors: SearchVectors) {
  let [embedded, toEmbed, withoutVector] = [0, 0, 0];
  if (vectors.state().embedderId === "") return { embedded, toEmbed, withoutVector };
  for (const { buffer, rows, dead } of segments) {
    const living = dead === undefined ? rows : rows - countMarked(dead, () => true);
    const block = vectors.blockOf(buffer);
    if (block === undefined) toEmbed += living;
    else {
      const { scales } = viewBlock(block.memory, layOutBlock(block));
      const lost = dead === undefined ? 0 : countMarked(dead, (row) => !Number.isNaN(scales[row]));
      embedded += block.present - lost;
      withoutVector += living - (block.present - lost);
    }
  }
  return { embedded, toEmbed, withoutVector };
}

function countMarked(marks: Uint8Array, counts: (row: number) => boolean): number {
  let marked = 0;
  for (const [row, mark] of marks.entries()) if (mark !== 0 && counts(row)) marked += 1;
  return marked;
}
