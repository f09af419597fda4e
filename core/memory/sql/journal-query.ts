import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { JournalQuery, Table } from "../../domain/admin.ts";
import { fail, type Result } from "../../domain/failure.ts";
import type { MemoryCopy } from "./memory-copy.ts";
import { namesMemoryView } from "./memory-views.ts";
import type { QueryRequest } from "./query-process.ts";

const TIME_LIMIT_MS = 30_000;
const SQL_LIMIT_CHARS = 65_536;
const RUNNING_LIMIT = 2;
/** Above what the process sends at most, escapes included. */
const ANSWER_LIMIT_BYTES = 67_108_864;
const COMPLAINT_LIMIT_CHARS = 2_000;
const HEAP_LIMIT_MIB = 512;

export type JournalQueryOptions = {
  readonly journalDir: string;
  /** The Node that runs the query process. */
  readonly nodeBinary: string;
  /** The bundled query-process. */
  readonly queryFile: string;
  /** Of memory's store, for queries that name its views; without it these are empty. */
  readonly memory?: MemoryCopy;
  /** 30 s by default. */
  readonly timeLimitMs?: number;
};

/**
 * Answers one SELECT over the journals, each in a fresh process with an in-memory DuckDB that can reach no file: at most
 * 10,000 rows or 8 MiB (then `truncated`), 512 MB, 30 s, two at a time.
 */
export function journalQuery(options: JournalQueryOptions): JournalQuery {
  let running = 0;

  return {
    async query(sql, signal) {
      if (sql.length > SQL_LIMIT_CHARS) {
        return fail("invalid", `a query holds at most ${SQL_LIMIT_CHARS} characters`, { hint: "shorten it" });
      }
      if (running >= RUNNING_LIMIT) {
        return fail("exhausted", `${running} queries are running already`, { hint: "try again when they are done" });
      }
      running += 1;
      try {
        return await answer(options, sql, signal);
      } finally {
        running -= 1;
      }
    },
  };
}

async function answer(options: JournalQueryOptions, sql: string, signal: AbortSignal): Promise<Result<Table>> {
  const request = { journalDir: options.journalDir, memoryFolder: "", sql };
  if (options.memory === undefined || !namesMemoryView(sql)) return ask(options, request, signal);
  const copy = await options.memory.lend();
  if (!copy.ok) return copy;
  try {
    return await ask(options, { ...request, memoryFolder: copy.value.folder }, signal);
  } finally {
    await copy.value.release();
  }
}

async function ask(options: JournalQueryOptions, request: QueryRequest, signal: AbortSignal): Promise<Result<Table>> {
  const limitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
  const timeout = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([signal, timeout]);
  const child = spawn(options.nodeBinary, [`--max-old-space-size=${HEAP_LIMIT_MIB}`, options.queryFile], {
    stdio: ["pipe", "pipe", "pipe"],
    env: {},
    signal: stop,
    killSignal: "SIGKILL",
  });
  const heard = await hear(child, request);
  if (signal.aborted) return fail("cancelled", "the query was stopped", { hint: "run it again" });
  if (timeout.aborted)
    return fail("timed_out", `the query took longer than ${limitMs / 1_000} s`, { hint: "filter earlier" });
  if (heard.answer.endsWith("\n")) return JSON.parse(heard.answer) as Result<Table>;
  return fail("unavailable", `the query process died (${heard.end}): ${heard.complaint.trim() || "no message"}`, {
    hint: "this query is more than DuckDB can take; ask in another way",
  });
}

type Heard = { readonly answer: string; readonly complaint: string; readonly end: string };

/** Everything the process said, when it is gone. */
async function hear(child: ChildProcessByStdio<Writable, Readable, Readable>, request: QueryRequest): Promise<Heard> {
  const { promise, resolve } = Promise.withResolvers<Heard>();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let complaint = "";
  let trouble = "";
  child.stdout.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > ANSWER_LIMIT_BYTES) child.kill("SIGKILL");
    else pieces.push(piece);
  });
  child.stderr.on("data", (piece: Buffer) => {
    complaint = (complaint + piece.toString("utf8")).slice(-COMPLAINT_LIMIT_CHARS);
  });
  child.on("error", (error) => {
    trouble = error.message;
  });
  // A process that died early closes the pipe; its end says why.
  child.stdin.on("error", () => {});
  child.on("close", (code, killedBy) => {
    resolve({
      answer: Buffer.concat(pieces).toString("utf8"),
      complaint,
      end: trouble || (killedBy ?? `exit code ${code}`),
    });
  });
  child.stdin.write(`${JSON.stringify(request)}\n`);
  return promise;
}
