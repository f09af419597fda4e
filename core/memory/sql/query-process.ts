import { readdir, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Table } from "../../domain/admin.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { attemptQuery, type DuckDBConnection, type DuckDb, loadDuckDb } from "../store/duckdb.ts";
import { EVENTS_TABLE, loadBrokenFile, loadEvents, VIEWS, VIEWS_HINT } from "./journal-views.ts";
import { allowMemoryFiles, memoryViews } from "./memory-views.ts";
import { judgeQuery } from "./query-guard.ts";
import { jsonOf } from "./query-value.ts";

// The entry of the process that answers one `claw sql`: reads one request line from standard input, writes one answer to
// standard output. A process of its own, because DuckDB can be brought down by a query alone (json_structure of a text nested 100,000 deep
// ends in a segmentation fault) and because only a SIGKILL stops everything.

const ROW_LIMIT = 10_000;
const RESULT_LIMIT_CHARS = 8_388_608;
const JOURNALS_LIMIT_BYTES = 268_435_456;
/** A file with a longer line counts as broken; DuckDB reserves a multiple of it. */
const LINE_LIMIT_BYTES = 16_777_216;
const MEMORY_LIMIT = "512MB";
const THREADS = "2";

export type QueryRequest = {
  readonly journalDir: string;
  /** Absolute; where the copies of memory lie. Empty for a query that needs none, or a memory that holds nothing. */
  readonly memoryFolder: string;
  readonly sql: string;
};

async function answer(request: QueryRequest): Promise<Result<Table>> {
  const files = await listJournals(request.journalDir);
  if (!files.ok) return files;
  // Plain names: a folder with a bracket or a star in its name must not become a pattern.
  process.chdir(request.journalDir);
  const opened = await attemptQuery("the query engine", openDatabase);
  if (!opened.ok) return opened;
  const { duckdb, connection } = opened.value;
  const judged = await judgeQuery(connection, request.sql);
  if (!judged.ok) return judged;
  const loaded = await attemptQuery("the journals", () => loadViews(connection, files.value, request.memoryFolder));
  if (!loaded.ok) return loaded;
  const ran = await attemptQuery("the query", () => readTable(duckdb, connection, request.sql));
  if (ran.ok) return ran.value;
  const isTooLarge = ran.failure.code === "exhausted";
  return isTooLarge
    ? fail("exhausted", `the query needs more than ${MEMORY_LIMIT} of memory`, { hint: "filter or aggregate earlier" })
    : fail("invalid", describe(ran.failure.cause), { hint: VIEWS_HINT });
}

async function listJournals(folder: string): Promise<Result<string[]>> {
  try {
    const files = (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).sort();
    let bytes = 0;
    for (const file of files) bytes += (await stat(`${folder}/${file}`)).size;
    if (bytes <= JOURNALS_LIMIT_BYTES) return ok(files);
    return fail("exhausted", `the journals hold ${bytes} bytes; a query reads at most ${JOURNALS_LIMIT_BYTES}`, {
      hint: "export and delete old sessions",
    });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      return fail("not_found", `there are no journals in ${folder}`, { hint: "start a session" });
    return fail("unavailable", `the journals in ${folder} cannot be read: ${String(cause)}`, {
      hint: "check their owner",
    });
  }
}

async function openDatabase(): Promise<{ duckdb: DuckDb; connection: DuckDBConnection }> {
  const duckdb = await loadDuckDb();
  const instance = await duckdb.DuckDBInstance.create(":memory:", {
    threads: THREADS,
    memory_limit: MEMORY_LIMIT,
    // Files in its temporary folder would stay readable and writable after external access is off.
    temp_directory: "",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  return { duckdb, connection: await instance.connect() };
}

async function loadViews(connection: DuckDBConnection, files: readonly string[], memoryFolder: string): Promise<void> {
  await connection.run(EVENTS_TABLE);
  if (files.length > 0) {
    // All at once is fast; one by one finds out which file is to blame when that fails.
    await connection.run(loadEvents(files, LINE_LIMIT_BYTES)).catch(() => loadEach(connection, files));
  }
  await connection.run(VIEWS);
  await connection.run(memoryViews(memoryFolder));
  await connection.run("SET TimeZone = 'UTC'");
  if (memoryFolder !== "") await connection.run(allowMemoryFiles(memoryFolder));
  await connection.run("SET enable_external_access = false");
  await connection.run("SET lock_configuration = true");
}

async function loadEach(connection: DuckDBConnection, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await connection.run(loadEvents([file], LINE_LIMIT_BYTES)).catch(() => connection.run(loadBrokenFile(file)));
  }
}

async function readTable(duckdb: DuckDb, connection: DuckDBConnection, sql: string): Promise<Result<Table>> {
  const result = await connection.stream(sql);
  const columns = result.deduplicatedColumnNames();
  const rows: Table["rows"][number][] = [];
  let chars = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const values of chunk.getRows()) {
      const row = values.map((value) => jsonOf(duckdb, value));
      chars += JSON.stringify(row).length;
      if (rows.length >= ROW_LIMIT || (chars > RESULT_LIMIT_CHARS && rows.length > 0))
        return ok({ columns, rows, truncated: true });
      if (chars > RESULT_LIMIT_CHARS) {
        return fail("exhausted", `the first row alone has more than ${RESULT_LIMIT_CHARS} characters`, {
          hint: "select fewer columns, or left(column, 1000)",
        });
      }
      rows.push(row);
    }
  }
  return ok({ columns, rows, truncated: false });
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message.trim() : String(cause);
}

function reply(result: Result<Table>): void {
  const plain = result.ok ? result : { ok: false, failure: { ...result.failure, cause: undefined } };
  // Leaves in the hard way: an orderly end would wait for whatever DuckDB still does.
  process.stdout.write(`${JSON.stringify(plain)}\n`, () => process.kill(process.pid, "SIGKILL"));
}

const input = createInterface({ input: process.stdin });
input.once("line", (line) => {
  answer(JSON.parse(line) as QueryRequest).then(reply, (cause: unknown) =>
    reply(fail("unavailable", `the query failed: ${describe(cause)}`, { hint: "try again" })),
  );
});
// Standard input is the lease: its end means that nobody waits for the answer any more.
input.once("close", () => process.kill(process.pid, "SIGKILL"));
