import type { EventBody } from "../../domain/event.ts";
import { type Failed, fail } from "../../domain/failure.ts";
import { METRICS, type Metric } from "../worker/nearest-vectors.ts";
import { type VectorRows, vectorRows } from "./vector-rows.ts";

export const DIMENSION_LIMIT = 4_096;
export const ELEMENTS_LIMIT = 100_000;
const VECTORS_LIMIT_BYTES = 1_073_741_824;
const NAME_LIMIT_CHARS = 128;
const TEXT_LIMIT_CHARS = 65_536;
const METADATA_LIMIT_CHARS = 65_536;
const FLOAT_BYTES = 4;
/** Of texts, metadata and vectors in one event: reading one holds up nobody. */
const EVENT_LIMIT_BYTES = 262_144;

/** What an index is; never changed. */
export type IndexShape = {
  readonly name: string;
  readonly dimension: number;
  readonly maxElements: number;
  readonly metric: Metric;
};

/** What is put in: a bare vector, or a text with the vector that an embedder made of it. */
export type ElementDraft = {
  readonly vector: Float32Array;
  /** A JSON object; empty for none. */
  readonly metadata: string;
  readonly text: string;
  readonly type: string;
  readonly source: string;
  /** Id of the embedder that made the vector; empty for a bare vector. */
  readonly embedder: string;
};

export type IndexElement = Omit<ElementDraft, "vector"> & { readonly label: number; readonly atMs: number };

/** What the journal of an index folds to. */
export type IndexFold = {
  /** Undefined before the first event. */
  shape: IndexShape | undefined;
  nextLabel: number;
  rows: VectorRows;
  readonly elements: Map<number, IndexElement>;
  /** Of the texts in it; empty while there are none. Vectors of two embedders are never compared. */
  embedder: string;
  textChars: number;
};

export function emptyIndex(): IndexFold {
  return { shape: undefined, nextLabel: 0, rows: vectorRows(1), elements: new Map(), embedder: "", textChars: 0 };
}

export function applyToIndex(fold: IndexFold, body: EventBody): void {
  if (body.case !== "vectorIndexChanged") return;
  const { shape, put = [], removed = [] } = body.value;
  if (shape !== undefined) {
    const { name = "", dimension = 1, maxElements = 0, metric = "" } = shape;
    fold.shape = { name, dimension, maxElements, metric: METRICS.find((one) => one === metric) ?? "l2" };
    fold.rows = vectorRows(dimension);
  }
  for (const label of removed) removeElement(fold, label);
  for (const {
    label = 0,
    vector = "",
    metadata = "",
    text = "",
    type = "",
    source = "",
    embedder = "",
    atMs = 0,
  } of put) {
    removeElement(fold, label);
    const numbers = toFloats(vector);
    if (numbers.length !== fold.shape?.dimension) continue;
    fold.rows.put(label, numbers);
    fold.elements.set(label, { label, metadata, text, type, source, embedder, atMs });
    fold.textChars += metadata.length + text.length;
    fold.nextLabel = Math.max(fold.nextLabel, label + 1);
    if (embedder !== "") fold.embedder = embedder;
  }
}

function removeElement(fold: IndexFold, label: number): void {
  const element = fold.elements.get(label);
  if (element === undefined) return;
  fold.elements.delete(label);
  fold.rows.remove(label);
  fold.textChars -= element.metadata.length + element.text.length;
}

// Every system that Node runs on stores the low byte first, as the journal does.

function toFloats(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  // A small buffer is a piece of a larger one, and begins anywhere in it.
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / FLOAT_BYTES));
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

export function shapeEvent(shape: IndexShape): EventBody {
  return { case: "vectorIndexChanged", value: { shape } };
}

/** The events of elements that come in, none of them larger than a journal's line may be. */
export function putEvents(elements: readonly (ElementDraft & { label: number })[], atMs: number): EventBody[] {
  const events: EventBody[] = [];
  let put: object[] = [];
  let bytes = 0;
  const close = () => {
    if (put.length > 0) events.push({ case: "vectorIndexChanged", value: { put } });
    [put, bytes] = [[], 0];
  };
  for (const { vector, ...element } of elements) {
    const size = (vector.length + element.text.length + element.metadata.length) * FLOAT_BYTES;
    if (bytes + size > EVENT_LIMIT_BYTES) close();
    put.push({ ...element, vector: toBase64(vector), atMs });
    bytes += size;
  }
  close();
  return events;
}

export function removeEvent(labels: readonly number[]): EventBody {
  return { case: "vectorIndexChanged", value: { removed: [...labels] } };
}

export function checkShape({ name, dimension, maxElements }: IndexShape): Failed | undefined {
  if (name.length > NAME_LIMIT_CHARS || name.trim() === "") {
    return fail("invalid", `the name of an index has 1 to ${NAME_LIMIT_CHARS} characters`, { hint: "choose another" });
  }
  const bytes = dimension * maxElements * FLOAT_BYTES;
  if (bytes <= VECTORS_LIMIT_BYTES) return undefined;
  return fail(
    "invalid",
    `${maxElements} vectors of ${dimension} numbers take ${bytes} bytes; an index holds at most ${VECTORS_LIMIT_BYTES}`,
    {
      hint: "give a smaller max_elements",
    },
  );
}

/** What is wrong with putting these in; `added` of them are new. */
export function checkElements(fold: IndexFold, drafts: readonly ElementDraft[], added: number): Failed | undefined {
  const { shape } = fold;
  if (shape === undefined) return undefined;
  for (const { vector, text, metadata, embedder } of drafts) {
    const wrong = checkVector(shape, vector) ?? checkEmbedder(fold, embedder);
    if (wrong !== undefined) return wrong;
    if (text.length > TEXT_LIMIT_CHARS || metadata.length > METADATA_LIMIT_CHARS) {
      return fail("invalid", `a text and its metadata have at most ${TEXT_LIMIT_CHARS} characters each`, {
        hint: "vector_db_add_chunked_text cuts long texts",
      });
    }
  }
  if (fold.elements.size + added <= shape.maxElements) return undefined;
  return fail(
    "exhausted",
    `Index is full: ${shape.name} holds ${fold.elements.size} of ${shape.maxElements} elements`,
    {
      hint: "delete some, or make a larger index",
    },
  );
}

export function checkVector(shape: IndexShape, vector: Float32Array): Failed | undefined {
  if (vector.length !== shape.dimension) {
    return fail(
      "invalid",
      `Vector dimension mismatch: ${shape.name} holds vectors of ${shape.dimension} numbers, this one has ${vector.length}`,
      {
        hint: "give as many numbers as the index has dimensions",
      },
    );
  }
  return vector.every(Number.isFinite)
    ? undefined
    : fail("invalid", "a number of the vector is too large for a float32");
}

/** An empty id is a bare vector's, which may stand beside anything. */
export function checkEmbedder(fold: IndexFold, embedder: string): Failed | undefined {
  if (embedder === "" || fold.embedder === "" || fold.embedder === embedder) return undefined;
  return fail(
    "conflict",
    `the texts of index ${fold.shape?.name} were embedded by ${fold.embedder}; the embedder is now ${embedder}`,
    {
      hint: "delete the index and add the texts again, or set the embedder back",
    },
  );
}
