import { createHash } from "node:crypto";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import { type Journal, JournalError } from "../../domain/journal.ts";
import { type Ledger, openLedger, type Work } from "../../domain/ledger.ts";
import type { Nearest, NearestRequest } from "../worker/nearest-vectors.ts";
import {
  applyToIndex,
  checkElements,
  checkEmbedder,
  checkShape,
  checkVector,
  type ElementDraft,
  emptyIndex,
  type IndexElement,
  type IndexFold,
  type IndexShape,
  putEvents,
  removeEvent,
  shapeEvent,
} from "./vector-index.ts";

const INDICES_LIMIT = 64;
/** Indices beyond it leave memory, the longest unused first; their journals bring them back. */
const LOADED_LIMIT_BYTES = 268_435_456;

export type FoundElement = IndexElement & { readonly distance: number };

/** A query by a vector; `embedder` when it was made of a text: then only texts are looked at. */
export type IndexQuery = { readonly vector: Float32Array; readonly embedder: string; readonly limit: number };

/**
 * Named indices of vectors, each a journal of its own: what is put in is durable before it is told, and an index that is
 * deleted leaves nothing behind. Searches are exact and run in worker threads.
 */
export type VectorIndices = {
  create(shape: IndexShape): Promise<Result<void>>;
  remove(name: string): Promise<Result<void>>;
  list(): Promise<Result<readonly IndexShape[]>>;
  /** `not_found` when there is none. */
  shape(name: string): Promise<Result<IndexShape>>;
  /** All or none; gives their labels. `replace`: elements with this source go at the same moment. */
  add(name: string, drafts: readonly ElementDraft[], replace?: string): Promise<Result<readonly number[]>>;
  /** What the change leaves out stays as it is. */
  update(
    name: string,
    label: number,
    change: Pick<ElementDraft, "vector"> & Partial<ElementDraft>,
  ): Promise<Result<void>>;
  removeElement(name: string, label: number): Promise<Result<void>>;
  get(name: string, label: number): Promise<Result<{ readonly element: IndexElement; readonly vector: Float32Array }>>;
  search(name: string, query: IndexQuery, signal: AbortSignal): Promise<Result<readonly FoundElement[]>>;
  /** All elements, by their labels. */
  elements(name: string): Promise<Result<readonly IndexElement[]>>;
};

export type VectorIndicesParts = {
  /** Of indices alone, opened at their first use. */
  readonly journal: () => Promise<Result<Journal>>;
  /** Runs `nearestVectors` in a worker thread. */
  readonly nearest: (request: NearestRequest, signal: AbortSignal) => Promise<Result<readonly Nearest[]>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

type Loaded = { readonly ledger: Ledger<IndexFold>; bytes: number };

export function openVectorIndices({ journal, nearest, now }: VectorIndicesParts): VectorIndices {
  /** In the order of their last use. */
  const loaded = new Map<string, Loaded>();
  let creating: Promise<unknown> = Promise.resolve();

  async function ledgerOf(name: string): Promise<Result<Ledger<IndexFold>>> {
    const opened = await journal();
    if (!opened.ok) return opened;
    const id = idOf(name);
    const known = loaded.get(name) ?? {
      ledger: openLedger({ journal: opened.value, id, begin: emptyIndex, apply: applyToIndex }),
      bytes: 0,
    };
    loaded.delete(name);
    loaded.set(name, known);
    return ok(known.ledger);
  }

  /** Whoever still waits for one that leaves keeps its ledger; a rival of it folds again and finds the same. */
  function makeRoom(name: string, fold: IndexFold): void {
    const own = loaded.get(name);
    if (own !== undefined) own.bytes = fold.rows.bytes() + fold.textChars * 2;
    let bytes = [...loaded.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const [other, { bytes: freed }] of loaded) {
      if (bytes <= LOADED_LIMIT_BYTES) return;
      if (other === name) continue;
      loaded.delete(other);
      bytes -= freed;
    }
  }

  /** Works on an index that is there. */
  async function on<T>(
    name: string,
    work: (fold: IndexFold, shape: IndexShape) => ReturnType<Work<IndexFold, T>>,
  ): Promise<Result<T>> {
    const ledger = await ledgerOf(name);
    if (!ledger.ok) return ledger;
    return ledger.value.work<T>((fold) => {
      makeRoom(name, fold);
      if (fold.shape !== undefined) return work(fold, fold.shape);
      // Whoever asks for any number of names that are none fills nothing.
      loaded.delete(name);
      return notThere(name);
    });
  }

  const look = <T>(name: string, read: (fold: IndexFold, shape: IndexShape) => Result<T>) =>
    on<T>(name, (fold, shape) => {
      const seen = read(fold, shape);
      return seen.ok ? ok({ bodies: [], value: seen.value }) : seen;
    });

  async function list(): Promise<Result<readonly IndexShape[]>> {
    const opened = await journal();
    if (!opened.ok) return opened;
    const shapes: IndexShape[] = [];
    for await (const { sessionId } of opened.value.heads()) {
      const shape = await readShape(opened.value, sessionId);
      if (shape !== undefined) shapes.push(shape);
    }
    return ok(shapes.sort((a, b) => (a.name < b.name ? -1 : 1)));
  }

  /** One at a time, so that the limit holds. */
  function create(shape: IndexShape): Promise<Result<void>> {
    const turn = creating.then(() => createNow(shape));
    creating = turn.catch(() => undefined);
    return turn;
  }

  async function createNow(shape: IndexShape): Promise<Result<void>> {
    const wrong = checkShape(shape);
    if (wrong !== undefined) return wrong;
    const there = await list();
    if (!there.ok) return there;
    if (there.value.length >= INDICES_LIMIT) {
      return fail("exhausted", `there are ${INDICES_LIMIT} indices already`, { hint: "delete one first" });
    }
    const ledger = await ledgerOf(shape.name);
    if (!ledger.ok) return ledger;
    return ledger.value.work<void>((fold) =>
      fold.shape === undefined
        ? ok({ bodies: [shapeEvent(shape)], value: undefined })
        : fail("conflict", `Index already exists: ${shape.name}`, { hint: "choose another name, or delete it first" }),
    );
  }

  return {
    create,
    list,
    shape: (name) => look(name, (_, shape) => ok(shape)),
    async remove(name) {
      const there = await look(name, () => ok(undefined));
      if (!there.ok) return there;
      const opened = await journal();
      if (!opened.ok) return opened;
      loaded.delete(name);
      return opened.value.remove(idOf(name));
    },
    add: (name, drafts, replace) =>
      on(name, (fold) => {
        const elements = replace === undefined ? [] : [...fold.elements.values()];
        const old = elements.filter(({ source }) => source === replace).map(({ label }) => label);
        const wrong = checkElements(fold, drafts, drafts.length - old.length);
        if (wrong !== undefined) return wrong;
        const labels = drafts.map((_, index) => fold.nextLabel + index);
        const bodies = putEvents(
          drafts.map((draft, index) => ({ ...draft, label: fold.nextLabel + index })),
          now(),
        );
        return ok({ bodies: old.length === 0 ? bodies : [removeEvent(old), ...bodies], value: labels });
      }),
    update: (name, label, change) =>
      on<void>(name, (fold) => {
        const element = fold.elements.get(label);
        if (element === undefined) return noElement(name, label);
        const { atMs, ...old } = element;
        const draft = { ...old, ...change, label };
        const wrong = checkElements(fold, [draft], 0);
        return wrong ?? ok({ bodies: putEvents([draft], atMs), value: undefined });
      }),
    removeElement: (name, label) =>
      on<void>(name, (fold) =>
        fold.elements.has(label) ? ok({ bodies: [removeEvent([label])], value: undefined }) : noElement(name, label),
      ),
    get: (name, label) =>
      look(name, (fold) => {
        const [element, vector] = [fold.elements.get(label), fold.rows.get(label)];
        return element === undefined || vector === undefined ? noElement(name, label) : ok({ element, vector });
      }),
    async search(name, { vector, embedder, limit }, signal) {
      const ready = await look(name, (fold, shape) => {
        const wrong = checkVector(shape, vector) ?? checkEmbedder(fold, embedder);
        if (wrong !== undefined) return wrong;
        const rows = fold.rows.snapshot();
        const labels = embedder === "" ? rows.labels : rows.labels.map((label) => (hasText(fold, label) ? label : -1));
        return ok({ ...rows, labels, dimension: shape.dimension, metric: shape.metric, query: vector, limit });
      });
      if (!ready.ok) return ready;
      const found = await nearest(ready.value, signal);
      if (!found.ok) return found;
      // What was deleted meanwhile is left out.
      return look(name, (fold) =>
        ok(
          found.value.flatMap(({ label, distance }) => {
            const element = fold.elements.get(label);
            return element === undefined ? [] : [{ ...element, distance }];
          }),
        ),
      );
    },
    elements: (name) => look(name, (fold) => ok([...fold.elements.values()])),
  };
}

function hasText(fold: IndexFold, label: number): boolean {
  return (fold.elements.get(label)?.embedder ?? "") !== "";
}

/** Names are anything that people write; ids of journals are not. */
function idOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

/** Of a journal's first event; undefined where it has none, or is broken. */
async function readShape(journal: Journal, id: string): Promise<IndexShape | undefined> {
  const fold = emptyIndex();
  try {
    for await (const { body } of journal.read(id, { after: 0, follow: false }, new AbortController().signal)) {
      if (body.case !== undefined) applyToIndex(fold, body);
      break;
    }
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
  }
  return fold.shape;
}

function notThere(name: string): Failed {
  return fail("not_found", `Index not found: ${name}`, { hint: "vector_db_list_indices shows those there are" });
}

function noElement(name: string, label: number): Failed {
  return fail("not_found", `Element not found: index ${name} has no label ${label}`, {
    hint: "a search shows labels that are there",
  });
}
