import type { Embedder } from "../domain/embedder.ts";
import { ok, type Result } from "../domain/failure.ts";
import type { EmbedderChoice } from "./embed/choose-embedder.ts";
import type { EmbedJob, VectorCache } from "./embed/embed-job.ts";
import { type EmbedState, openEmbedRun } from "./embed/embed-run.ts";
import { openQueryVectors } from "./embed/query-vectors.ts";
import { emptySheet, type VectorSheet } from "./embed/vector-sheet.ts";
import type { SegmentText } from "./store/store.ts";
import { givenUp } from "./store/store-holder.ts";
import type { VectorBlock } from "./vector/vector-block.ts";
import type { ComputedTexts, ComputeTextsRequest } from "./worker/computed-texts.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";
import type { SegmentVectors } from "./worker/search-task.ts";
import { type ComputedEmbedder, identityOf } from "./worker/vector-task.ts";

/**
 * A vector of hashed words is a far weaker witness than the words themselves: where texts differ in one word only, 0.25 takes
 * .02 of nDCG away from them, 0.1 nothing. One of a trained model counts as much as they do.
 */
export const COMPUTED_WEIGHT = 0.1;
const ASKED_WEIGHT = 1;

/** What the vector leg of one search goes by; all of it of one embedder. */
export type VectorLeg =
  | {
      readonly kind: "ready";
      /** The query's, or who computes it where the words are counted. */
      readonly vector: Float32Array | ComputedEmbedder;
      readonly weight: number;
      vectorsOf(segment: SharedArrayBuffer): SegmentVectors | undefined;
    }
  | { readonly kind: "missing"; readonly why: string };

/** A segment that is searched, and what its vectors are made from. */
export type EmbeddedSegment = {
  readonly name: string;
  readonly buffer: SharedArrayBuffer;
  readonly rows: number;
  /** A byte a row, 1 for one that is gone; undefined when none is. */
  readonly dead: Uint8Array | undefined;
  /** Where vectors of an embedder are kept; undefined for a segment that is not kept itself. */
  file(embedderId: string): string | undefined;
  texts(): AsyncIterable<Result<readonly Omit<SegmentText, "id">[]>>;
  /** The same as a file for a thread, where there are too many for this one; see the store's `withSegmentTexts`. */
  readonly withTexts?: <T>(work: (file: string, retired: AbortSignal) => Promise<Result<T>>) => Promise<Result<T>>;
};

export type SearchVectorsOptions = {
  readonly pool: MemoryPool;
  /** The embedder of this moment. */
  readonly choose: () => EmbedderChoice;
  /** Weight of the vector leg; undefined for the embedder's own. */
  readonly weight: number | undefined;
  /** All that is searched now. */
  readonly segments: () => Promise<Result<readonly EmbeddedSegment[]>>;
  readonly cache: VectorCache;
  readonly ticks: () => number;
  readonly random: () => number;
  readonly complain: (cause: unknown) => void;
};

export type SearchVectors = {
  /** Never fails, and never takes longer than a search waits for an embedder: it can do without. */
  legFor(text: string, signal: AbortSignal): Promise<VectorLeg>;
  /** Segments may have come that have no vectors. Cheap; the work is done in the background. */
  wake(): void;
  /** The vectors of a segment that are of the embedder in use; undefined when they are still to come. */
  blockOf(segment: SharedArrayBuffer): VectorBlock | undefined;
  state(): EmbedState & { readonly embedderId: string };
  /** Resolves when nothing is to be done any more. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

/** Vectors of what is searched and of what is searched for, of the embedder that is in use. */
export function openSearchVectors(options: SearchVectorsOptions): SearchVectors {
  const { pool, choose, cache, random, complain } = options;
  const queries = openQueryVectors({ ticks: options.ticks });
  const installed = new WeakMap<SharedArrayBuffer, { readonly embedderId: string; readonly vectors: SegmentVectors }>();
  const computed = new Map<ComputedEmbedder, Embedder>();
  /** How long the vectors are that were installed last. */
  let kept: { readonly embedderId: string; readonly dimensions: number } | undefined;

  const run = openEmbedRun({
    target() {
      const choice = choose();
      if (choice.kind === "asked") return { embedder: choice.embedder, cache };
      return choice.kind === "computed" ? { embedder: computing(choice.name), cache: undefined } : undefined;
    },
    jobs,
    random,
    complain,
  });

  /** Computes in the pool, as if it were asked. */
  function computing(name: ComputedEmbedder): Embedder {
    const known = computed.get(name);
    if (known !== undefined) return known;
    const { id, dimensions } = identityOf(name);
    const embedder: Embedder = {
      id,
      dimensions,
      embed: (texts, _kind, signal) => pool.run("embed", { name, texts }, "back", signal),
    };
    computed.set(name, embedder);
    return embedder;
  }

  function vectorsOf(segment: SharedArrayBuffer, embedderId: string): SegmentVectors | undefined {
    const known = installed.get(segment);
    return known?.embedderId === embedderId ? known.vectors : undefined;
  }

  /** Segments without vectors. Those whose vectors lie in a file have them from there. */
  async function jobs(embedder: Embedder): Promise<Result<readonly EmbedJob[]>> {
    const segments = await options.segments();
    if (!segments.ok) return segments;
    const wanting: EmbedJob[] = [];
    for (const segment of segments.value) {
      if (vectorsOf(segment.buffer, embedder.id) !== undefined) continue;
      const file = segment.file(embedder.id);
      const loaded = file === undefined ? undefined : await load(file, segment.rows);
      if (loaded === undefined || file === undefined) wanting.push(jobOf(segment, embedder, file));
      else install(segment, embedder, loaded, file);
    }
    return ok(wanting);
  }

  async function load(file: string, rows: number): Promise<VectorBlock | undefined> {
    const loaded = await pool.run<VectorBlock | undefined>("loadVectors", file, "back");
    return loaded.ok && loaded.value?.rows === rows ? loaded.value : undefined;
  }

  function install(segment: EmbeddedSegment, embedder: Embedder, block: VectorBlock, file: string | undefined): void {
    const vectors = file === undefined ? { block } : { block, file };
    installed.set(segment.buffer, { embedderId: embedder.id, vectors });
    kept = { embedderId: embedder.id, dimensions: block.dimensions };
  }

  function jobOf(segment: EmbeddedSegment, embedder: Embedder, file: string | undefined): EmbedJob {
    const { withTexts } = segment;
    const name = computedName(embedder);
    const job = askedJob(segment, embedder, file);
    if (withTexts === undefined || name === undefined) return job;
    return {
      ...job,
      compute: (report, signal) =>
        withTexts((texts, retired) => compute({ job, name, texts, report, signal, retired })),
    };
  }

  type Computing = {
    readonly job: EmbedJob;
    readonly name: ComputedEmbedder;
    /** The file. */
    readonly texts: string;
    readonly report: (rows: number) => void;
    readonly signal: AbortSignal;
    /** Somebody waits to close the store. */
    readonly retired: AbortSignal;
  };

  /** Neither texts nor vectors pass through this thread. */
  async function compute({ job, name, texts: file, report, signal, retired }: Computing): Promise<Result<void>> {
    const sheet = emptySheet(job.rows, identityOf(name).dimensions);
    const { numbers, present } = sheet;
    let rows = 0;
    for (let fromByte = 0; ; ) {
      if (retired.aborted) return givenUp();
      const request: ComputeTextsRequest = { name, file, fromByte, numbers, present };
      const done = await pool.run<ComputedTexts>("computeTexts", request, "back", signal);
      if (!done.ok) return done;
      if (done.value.rows === 0) return job.finish(sheet, signal);
      fromByte = done.value.nextByte;
      rows += done.value.rows;
      report(rows);
    }
  }

  function askedJob(segment: EmbeddedSegment, embedder: Embedder, file: string | undefined): EmbedJob {
    return {
      name: segment.name,
      rows: segment.rows,
      texts: () => segment.texts(),
      async finish(sheet: VectorSheet, signal: AbortSignal) {
        const exact = computedName(embedder) === undefined;
        const made = await pool.run<Result<VectorBlock>>("makeVectors", { sheet, exact, file }, "back", signal);
        if (!made.ok) return made;
        if (!made.value.ok) return made.value;
        install(segment, embedder, made.value.value, file);
        return ok(undefined);
      },
    };
  }

  function computedName({ id }: Embedder): ComputedEmbedder | undefined {
    return computed.entries().find(([, one]) => one.id === id)?.[0];
  }

  function embedderId(): string {
    const choice = choose();
    if (choice.kind === "asked") return choice.embedder.id;
    return choice.kind === "computed" ? identityOf(choice.name).id : "";
  }

  return {
    async legFor(text, signal) {
      const choice = choose();
      if (choice.kind === "none") return { kind: "missing", why: choice.why };
      if (text.trim() === "") return { kind: "missing", why: "the query has no words" };
      const id = embedderId();
      const ready = { kind: "ready", vectorsOf: (segment: SharedArrayBuffer) => vectorsOf(segment, id) } as const;
      if (choice.kind === "computed") {
        return { ...ready, vector: choice.name, weight: options.weight ?? COMPUTED_WEIGHT };
      }
      const vector = await queries.vectorOf(choice.embedder, text, signal);
      if (!vector.ok) return { kind: "missing", why: vector.failure.message };
      const length = vector.value.length;
      if (kept?.embedderId === id && kept.dimensions !== length) {
        return {
          kind: "missing",
          why: `${id} now gives vectors of ${length} numbers, those kept have ${kept.dimensions}`,
        };
      }
      return { ...ready, vector: vector.value, weight: options.weight ?? ASKED_WEIGHT };
    },
    wake: () => run.wake(),
    blockOf: (segment) => vectorsOf(segment, embedderId())?.block,
    state: () => ({ ...run.state(), embedderId: embedderId() }),
    settled: () => run.settled(),
    async close() {
      queries.close();
      await run.close();
    },
  };
}
