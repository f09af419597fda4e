import type { Piscina } from "piscina";
import { fail, ok, type Result } from "../../domain/failure.ts";
import type { SegmentInput } from "../lexical/index-document.ts";
import type { WalkOutcome } from "../source/folder-walk.ts";
import type { FileOutcome, ReadRequest } from "../source/source-files.ts";
import type { FusedHit } from "./fusion.ts";
import type { Presented, PresentRequest } from "./present-task.ts";
import { shareOf } from "./scan-share.ts";
import type { SearchRequest } from "./search-task.ts";
import type { BuiltSegmentFile, SegmentFileRequest } from "./segment-task.ts";

/** An idle thread keeps some 15 MB. */
const IDLE_TIMEOUT_MS = 30_000;
const QUEUE_LIMIT_TASKS = 1_000;
const THREAD_LIMIT_HEAP_MIB = 256;
/** Somebody waits for what these do; the second one starts only when the first is busy. */
const FRONT_THREADS = 2;
/** Two segments are built at a time; for all else one is enough, and the second one does not start. */
const BACK_THREADS = 2;

/** "front": somebody waits for it and it takes milliseconds. "back": index runs, vectors, evaluations. */
export type PoolLine = "front" | "back";

/**
 * The memory's worker threads. Searches have threads of their own, so that none ever stands behind an index run. Starts none
 * before the first task, ends them after half a minute without one.
 */
export type MemoryPool = {
  /** Starts a thread for a search that is to come, unless there is one. */
  warm(): void;
  search(request: SearchRequest): Promise<Result<readonly FusedHit[]>>;
  present(request: PresentRequest): Promise<Result<readonly Presented[]>>;
  /** For small ones, which a search waits for. */
  build(input: SegmentInput): Promise<Result<SharedArrayBuffer>>;
  buildFile(request: SegmentFileRequest, signal: AbortSignal): Promise<Result<BuiltSegmentFile>>;
  sketch(texts: readonly string[]): Promise<Result<Uint32Array>>;
  walk(root: string, signal: AbortSignal): Promise<Result<WalkOutcome>>;
  read(request: ReadRequest, signal: AbortSignal): Promise<Result<FileOutcome[]>>;
  /** Any task of memory-worker.ts by its name. What it is given and gives is copied, shared memory handed over as it is. */
  run<T>(task: string, request: unknown, line: PoolLine, signal?: AbortSignal): Promise<Result<T>>;
  close(): Promise<void>;
};

/** @param workerFile path of the bundled (or, in tests, the source) memory-worker. */
export function memoryPool(workerFile: string): MemoryPool {
  const lines = { front: lazyPool(workerFile, FRONT_THREADS), back: lazyPool(workerFile, BACK_THREADS) };
  let closed = false;

  async function run<T>(task: string, request: unknown, line: PoolLine, signal?: AbortSignal): Promise<Result<T>> {
    // Or threads would start that nobody ends.
    if (closed) return fail("unavailable", "memory is closed", { hint: "the daemon is ending; start it again" });
    try {
      const pool = await lines[line].start();
      return ok((await pool.run(request, { name: task, signal: signal ?? null })) as T);
    } catch (cause) {
      if (signal?.aborted)
        return fail("cancelled", `memory was told to stop (${task})`, { hint: "start it again", cause });
      const reason = cause instanceof Error ? cause.message : String(cause);
      return fail("unavailable", `memory could not ${task}: ${reason}`, {
        hint: "try again; if it persists, restart the daemon",
        cause,
      });
    }
  }

  function search(request: SearchRequest): Promise<Result<readonly FusedHit[]>> {
    const share = shareOf(request);
    if (share === undefined) return run("search", request, "front");
    const shared = { ...request, share };
    const searched = run<readonly FusedHit[]>("search", shared, "front");
    // The search does without, if this comes too late.
    void run("helpSearch", shared, "front");
    return searched;
  }

  return {
    run,
    warm() {
      if (!closed && !lines.front.isWarm()) void run("ready", undefined, "front");
    },
    search,
    present: (request) => run("present", request, "front"),
    build: (input) => run("build", input, "front"),
    buildFile: (request, signal) => run("buildFile", request, "back", signal),
    sketch: (texts) => run("sketch", texts, "front"),
    walk: (root, signal) => run("walk", { root }, "back", signal),
    read: (request, signal) => run("read", request, "back", signal),
    async close() {
      closed = true;
      await Promise.all([lines.front.close(), lines.back.close()]);
    },
  };
}

function lazyPool(workerFile: string, threads: number) {
  let pool: Promise<Piscina> | undefined;
  let opened: Piscina | undefined;

  async function open(): Promise<Piscina> {
    const { Piscina } = await import("piscina");
    opened = new Piscina({
      filename: workerFile,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_TIMEOUT_MS,
      maxQueue: QUEUE_LIMIT_TASKS,
      recordTiming: false,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: THREAD_LIMIT_HEAP_MIB },
    });
    return opened;
  }

  return {
    /** Also while its first thread starts. */
    isWarm: () => pool !== undefined && (opened?.threads.length ?? 1) > 0,
    start() {
      // One that could not be opened is tried again.
      pool ??= open().catch((cause) => {
        pool = undefined;
        throw cause;
      });
      return pool;
    },
    async close() {
      const opened = await pool?.catch(() => undefined);
      await opened?.destroy();
    },
  };
}
