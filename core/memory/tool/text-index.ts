import type { Embedder } from "../../domain/embedder.ts";
import { type Failed, ok, type Result } from "../../domain/failure.ts";
import type { ElementDraft, IndexElement } from "./vector-index.ts";
import type { FoundElement, VectorIndices } from "./vector-indices.ts";

/** Where texts go when no index is named; it is read by memory's own search, too. */
export const TEXTS_INDEX = "documents";
const NEW_INDEX_ELEMENTS = 10_000;
/** Texts that are embedded and kept together. */
const BATCH_TEXTS = 64;

export type TextDraft = Pick<ElementDraft, "text" | "metadata" | "type" | "source">;

export type AddedTexts = {
  readonly labels: readonly number[];
  readonly failed: number;
  /** Of the first that failed. */
  readonly failure: Failed | undefined;
};

/** Texts in indices of vectors, found by what they mean. */
export type TextIndex = {
  /** Makes the index when there is none. What failed is counted, and the others are kept. */
  add(name: string, drafts: readonly TextDraft[], signal: AbortSignal): Promise<AddedTexts>;
  /** Puts these in the place of everything from one source; all or none. What is there already is not embedded again. */
  replaceSource(name: string, source: string, drafts: readonly TextDraft[], signal: AbortSignal): Promise<Result<void>>;
  search(name: string, query: string, limit: number, signal: AbortSignal): Promise<Result<readonly FoundElement[]>>;
  /** Newest first. */
  byTime(name: string, fromMs: number, toMs: number, limit: number): Promise<Result<readonly IndexElement[]>>;
};

export type TextIndexParts = {
  readonly indices: VectorIndices;
  /** The one in use now; its failure names what is missing for one. */
  readonly embedder: () => Promise<Result<Embedder>>;
  /** Hears of texts that came into an index. */
  readonly onAdded: (name: string) => void;
};

export function openTextIndex({ indices, embedder, onAdded }: TextIndexParts): TextIndex {
  async function addBatch(name: string, drafts: readonly TextDraft[], signal: AbortSignal) {
    const made = await embed(
      drafts.map(({ text }) => text),
      "document",
      signal,
    );
    if (!made.ok) return made;
    return put(name, drafts, made.value, undefined);
  }

  async function put(
    name: string,
    drafts: readonly TextDraft[],
    { vectors, id }: { readonly vectors: readonly Float32Array[]; readonly id: string },
    replaced: string | undefined,
  ) {
    const shape = await indices.shape(name);
    if (!shape.ok) {
      if (shape.failure.code !== "not_found") return shape;
      const dimension = vectors[0]?.length ?? 0;
      const created = await indices.create({ name, dimension, maxElements: NEW_INDEX_ELEMENTS, metric: "cosine" });
      // Somebody else may have been faster.
      if (!created.ok && created.failure.code !== "conflict") return created;
    }
    const elements = drafts.map((draft, index) => ({
      ...draft,
      vector: vectors[index] ?? new Float32Array(0),
      embedder: id,
    }));
    return indices.add(name, elements, replaced);
  }

  async function holds(name: string, source: string, drafts: readonly TextDraft[]): Promise<boolean> {
    const all = await indices.elements(name);
    const there = all.ok ? all.value.filter((element) => element.source === source) : [];
    return there.length === drafts.length && there.every(({ text }, index) => text === drafts[index]?.text);
  }

  async function embed(texts: readonly string[], kind: "query" | "document", signal: AbortSignal) {
    const chosen = await embedder();
    if (!chosen.ok) return chosen;
    const vectors = await chosen.value.embed(texts, kind, signal);
    return vectors.ok ? ok({ vectors: vectors.value, id: chosen.value.id }) : vectors;
  }

  return {
    async add(name, drafts, signal) {
      const labels: number[] = [];
      let failed = 0;
      let failure: Failed | undefined;
      for (let from = 0; from < drafts.length; from += BATCH_TEXTS) {
        const batch = drafts.slice(from, from + BATCH_TEXTS);
        const added = await addBatch(name, batch, signal);
        if (added.ok) {
          labels.push(...added.value);
          continue;
        }
        failed += batch.length;
        failure ??= added;
        // The next ones would fail alike.
        if (signal.aborted) {
          failed = drafts.length - labels.length;
          break;
        }
      }
      if (labels.length > 0) onAdded(name);
      return { labels, failed, failure };
    },
    async replaceSource(name, source, drafts, signal) {
      if (await holds(name, source, drafts)) {
        // Whoever was told the first time may have failed; to be told again costs little.
        onAdded(name);
        return ok(undefined);
      }
      const vectors: Float32Array[] = [];
      let id = "";
      for (let from = 0; from < drafts.length; from += BATCH_TEXTS) {
        const batch = drafts.slice(from, from + BATCH_TEXTS).map(({ text }) => text);
        const made = await embed(batch, "document", signal);
        if (!made.ok) return made;
        vectors.push(...made.value.vectors);
        id = made.value.id;
      }
      const added = await put(name, drafts, { vectors, id }, source);
      if (!added.ok) return added;
      onAdded(name);
      return ok(undefined);
    },
    async search(name, query, limit, signal) {
      const there = await indices.shape(name);
      if (!there.ok) return there;
      const made = await embed([query], "query", signal);
      if (!made.ok) return made;
      const vector = made.value.vectors[0] ?? new Float32Array(0);
      return indices.search(name, { vector, embedder: made.value.id, limit }, signal);
    },
    async byTime(name, fromMs, toMs, limit) {
      const all = await indices.elements(name);
      if (!all.ok) return all;
      const within = all.value.filter(({ atMs, text }) => text !== "" && atMs >= fromMs && atMs <= toMs);
      return ok(within.sort((a, b) => b.atMs - a.atMs || b.label - a.label).slice(0, limit));
    },
  };
}
