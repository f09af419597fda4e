import { setTimeout as pause } from "node:timers/promises";
import type { Embedder } from "../../domain/embedder.ts";
import { type Failure, ok, type Result } from "../../domain/failure.ts";
import { type EmbedJob, type EmbedMeans, embedTexts, type VectorCache } from "./embed-job.ts";

/** The embedder of this moment, and where its vectors are kept. */
export type EmbedTarget = { readonly embedder: Embedder; readonly cache: VectorCache | undefined };

export type EmbedRunOptions = {
  /** Cheap; undefined when there is no embedder. */
  readonly target: () => EmbedTarget | undefined;
  /** What has no block of this embedder yet, most wanted first. */
  readonly jobs: (embedder: Embedder) => Promise<Result<readonly EmbedJob[]>>;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Writes down a broken promise of our own code. */
  readonly complain: (cause: unknown) => void;
  /** Rejects when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

export type EmbedState = {
  /** Empty when nothing is done at this moment. */
  readonly job: string;
  /** Rows of that job that are done. */
  readonly rows: number;
  /** Texts that the embedder refused since the start. */
  readonly refused: number;
  /** Why vectors do not come now; it is tried again by itself. */
  readonly failure: Failure | undefined;
};

/** Brings vectors up to date in the background, one job at a time. */
export type EmbedRun = {
  /** There may be something to do: segments were published, or the embedder is another one. Cheap. */
  wake(): void;
  state(): EmbedState;
  /** Resolves when there is nothing to do any more, or when the run rests after a failure. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

const FIRST_REST_MS = 1_000;
const REST_LIMIT_MS = 5 * 60_000;

/** Does nothing before it is woken. What was begun under another embedder is dropped; what is kept of it stays. */
export function openEmbedRun(options: EmbedRunOptions): EmbedRun {
  const { target, jobs, random, complain } = options;
  const wait = options.wait ?? ((ms: number, signal: AbortSignal) => pause(ms, undefined, { signal, ref: false }));
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  /** True when somebody woke it since the jobs were last looked at. */
  let woken = false;
  let current: { readonly embedder: Embedder; readonly stop: AbortController } | undefined;
  let state: EmbedState = { job: "", rows: 0, refused: 0, failure: undefined };
  let waiting: (() => void)[] = [];

  function settle(): void {
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  function isCurrent(embedder: Embedder): boolean {
    return target()?.embedder.id === embedder.id;
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      woken = false;
      const aim = target();
      if (aim === undefined) {
        state = { ...state, failure: undefined };
        return;
      }
      const stop = new AbortController();
      current = { embedder: aim.embedder, stop };
      const signal = AbortSignal.any([stop.signal, closing.signal]);
      const outcome = await runJobs(aim, signal);
      if (signal.aborted) continue;
      if (outcome.failure === undefined) {
        failures = 0;
        state = { ...state, failure: undefined };
        if (!woken) return;
        continue;
      }
      failures = outcome.progress ? 1 : failures + 1;
      state = { ...state, failure: outcome.failure };
      settle();
      const restMs = Math.min(FIRST_REST_MS * 2 ** (failures - 1), REST_LIMIT_MS);
      // So that many daemons do not come back to a service in step.
      await wait(restMs * (0.5 + random() / 2), signal).catch(() => undefined);
    }
  }

  /** All jobs there are now, or as many as went well. */
  async function runJobs(
    { embedder, cache }: EmbedTarget,
    signal: AbortSignal,
  ): Promise<{ readonly failure: Failure | undefined; readonly progress: boolean }> {
    let progress = false;
    const listed = await jobs(embedder);
    if (!listed.ok) return { failure: listed.failure, progress };
    for (const job of listed.value) {
      if (signal.aborted) break;
      let first = -1;
      const report = (rows: number) => {
        if (first < 0) first = rows;
        progress ||= rows > first;
        state = { ...state, job: job.name, rows };
      };
      const done = (await job.compute?.(report, signal)) ?? (await askAll(job, { embedder, cache, report, signal }));
      if (!done.ok) return { failure: done.failure, progress };
      progress = true;
    }
    return { failure: undefined, progress };
  }

  async function askAll(job: EmbedJob, means: EmbedMeans): Promise<Result<void>> {
    const embedded = await embedTexts(job, means);
    if (!embedded.ok) return embedded;
    const { sheet, refused } = embedded.value;
    const finished = means.signal.aborted ? ok(undefined) : await job.finish(sheet, means.signal);
    if (finished.ok) state = { ...state, refused: state.refused + refused };
    return finished;
  }

  function start(): void {
    running = run()
      .catch(complain)
      .finally(() => {
        running = undefined;
        current = undefined;
        state = { ...state, job: "", rows: 0 };
        if (woken && !closing.signal.aborted) start();
        else settle();
      });
  }

  return {
    wake() {
      if (closing.signal.aborted) return;
      woken = true;
      if (current !== undefined && !isCurrent(current.embedder)) current.stop.abort();
      if (running === undefined) start();
    },
    state: () => state,
    settled() {
      if (running === undefined) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise;
    },
    async close() {
      closing.abort();
      await running;
      settle();
    },
  };
}
