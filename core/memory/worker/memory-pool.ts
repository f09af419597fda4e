import type { Piscina } from "piscina";
import { fail, ok, type Result } from "../../domain/failure.ts";
import type { RankedDocument } from "../lexical/ranking.ts";
import type { SearchRequest } from "./memory-worker.ts";
import type { SegmentDocument } from "../lexical/segment.ts";
import type { FileOutcome, ReadRequest, WalkOutcome } from "../source/source-files.ts";

/** An idle thread keeps some 15 MB. */
const IDLE_TIMEOUT_MS = 30_000;
const QUEUE_LIMIT_TASKS = 1_000;
const THREAD_LIMIT_HEAP_MIB = 256;

/** The memory's worker threads. Starts none before the first task, ends them after half a minute without one. */
export type MemoryPool = {
  search(request: SearchRequest): Promise<Result<RankedDocument[]>>;
  build(documents: readonly SegmentDocument[]): Promise<Result<SharedArrayBuffer>>;
  walk(root: string, signal: AbortSignal): Promise<Result<WalkOutcome>>;
  read(request: ReadRequest, signal: AbortSignal): Promise<Result<FileOutcome[]>>;
  close(): Promise<void>;
};

/** @param workerFile path of the bundled (or, in tests, the source) memory-worker. */
export function memoryPool(workerFile: string, threads: number): MemoryPool {
  let pool: Promise<Piscina> | undefined;
  let closed = false;

  async function start(): Promise<Piscina> {
    const { Piscina } = await import("piscina");
    return new Piscina({
      filename: workerFile,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_TIMEOUT_MS,
      maxQueue: QUEUE_LIMIT_TASKS,
      recordTiming: false,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: THREAD_LIMIT_HEAP_MIB },
    });
  }

  async function run<T>(name: string, task: unknown, signal?: AbortSignal): Promise<Result<T>> {
    // Or threads would start that nobody ends.
    if (closed) return fail("unavailable", "memory is closed", { hint: "the daemon is ending; start it again" });
    try {
      pool ??= start();
      return ok((await (await pool).run(task, { name, signal: signal ?? null })) as T);
    } catch (cause) {
      if (signal?.aborted)
        return fail("cancelled", `memory was told to stop (${name})`, { hint: "start it again", cause });
      return fail(
        "unavailable",
        `memory could not ${name}: ${cause instanceof Error ? cause.message : String(cause)}`,
        {
          hint: "try again; if it persists, restart the daemon",
          cause,
        },
      );
    }
  }

  return {
    search: (request) => run("search", request),
    build: (documents) => run("build", documents),
    walk: (root, signal) => run("walk", root, signal),
    read: (request, signal) => run("read", request, signal),
    async close() {
      closed = true;
      await (await pool)?.destroy();
    },
  };
}
