import { basename } from "node:path";
import type { DocumentSource } from "../../domain/document-source.ts";
import { ok } from "../../domain/failure.ts";
import type { Memory } from "../../domain/memory.ts";
import { TEXTS_INDEX } from "./text-index.ts";
import type { VectorIndices } from "./vector-indices.ts";

/** The texts that tools put into the index "documents", for memory's own search. */
export function textsSource(indices: VectorIndices): DocumentSource {
  return {
    name: TEXTS_INDEX,
    description: "Texts and PDFs that were added by tools",
    async *documents(signal) {
      const all = await indices.elements(TEXTS_INDEX);
      if (!all.ok) {
        // Without the index there is nothing, and that is all there is.
        if (all.failure.code !== "not_found") yield all;
        return;
      }
      for (const { label, text, source } of all.value) {
        if (signal.aborted) return;
        if (text === "") continue;
        const name = source === "" ? "text" : basename(source);
        yield ok({ id: `${name}#${label}`, title: source === "" ? "" : name, text });
      }
    },
  };
}

/**
 * Brings the texts into memory's index: one run at a time, and one more when some came in meanwhile.
 * @param complain writes down a broken promise of our own code; nobody waits for these runs
 */
export function keepTextsIndexed(
  memory: Pick<Memory, "index">,
  signal: AbortSignal,
  complain: (cause: unknown) => void,
): (index: string) => void {
  let running = false;
  let again = false;

  async function run(): Promise<void> {
    running = true;
    try {
      while (again && !signal.aborted) {
        again = false;
        // A run that fails leaves the texts where they are; the next one takes them along.
        for await (const progress of memory.index({ kind: "source", name: TEXTS_INDEX }, signal)) {
          if (!progress.ok) break;
        }
      }
    } finally {
      running = false;
    }
  }

  return (index) => {
    if (index !== TEXTS_INDEX || signal.aborted) return;
    again = true;
    if (!running) run().catch(complain);
  };
}
