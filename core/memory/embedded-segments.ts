import { fail, ok, type Result } from "../domain/failure.ts";
import { openSegment } from "./lexical/segment.ts";
import type { NoteSegment } from "./note/note-segments.ts";
import type { Notes } from "./note/notes.ts";
import type { EmbeddedSegment, SearchVectors } from "./search-vectors.ts";
import type { SegmentText, Store, StoredSegment } from "./store/store.ts";
import type { StoreHolder } from "./store/store-holder.ts";
import { textHashOf } from "./store/text-hash.ts";

/** A segment of notes: it lies in memory, and so do its vectors. */
export function noteSegment({ buffer }: NoteSegment, index: number, notes: Notes): EmbeddedSegment {
  const ids = openSegment(buffer)?.ids ?? new Float64Array();
  return {
    ...{ name: `notes ${index + 1}`, buffer, rows: ids.length },
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

/** A segment of the store: its vectors lie in a file beside it. */
export function storedSegment(segment: StoredSegment, store: Store, holder: StoreHolder): EmbeddedSegment {
  const { segmentId, buffer, documents } = segment;
  return {
    ...{ name: `segment ${segmentId}`, buffer, rows: documents },
    file: (embedderId) => store.vectorFile(segmentId, embedderId),
    withTexts: (work) =>
      holder.use((open) =>
        open.store === store ? store.withSegmentTexts(segmentId, work) : Promise.resolve(replaced(segmentId)),
      ),
    async *texts() {
      // The store is lent for all of it, so that it is not closed between two batches. Another opening may mean another
      // segment by this number.
      yield await holder.use((open) =>
        open.store === store ? collect(store.segmentTexts(segmentId)) : Promise.resolve(replaced(segmentId)),
      );
    },
  };
}

function replaced(segmentId: number): Result<never> {
  return fail("unavailable", `segment ${segmentId} is of a store that was closed meanwhile`, {
    hint: "it is tried again by itself",
  });
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

/** How many pieces have a vector, and how many are still to get one. */
export function countVectors(segments: readonly EmbeddedSegment[], vectors: SearchVectors) {
  let [embedded, toEmbed] = [0, 0];
  if (vectors.state().embedderId === "") return { embedded, toEmbed };
  for (const { buffer, rows } of segments) {
    const present = vectors.embedded(buffer);
    if (present === undefined) toEmbed += rows;
    else embedded += present;
  }
  return { embedded, toEmbed };
}
