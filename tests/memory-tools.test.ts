import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pdfWithPages } from "../core/memory/fixtures/pdf-maker.ts";
import { type Bench, eventually, openBench } from "./kit/claw.ts";

/* Memory's tools as a model calls them, through the whole daemon: schemas, permissions, journals, threads and processes. */

/** Every call is a process of its own, and the daemon starts anew in between. */
const TIMEOUT_MS = 120_000;

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  await writeFile(
    join(bench.workspace, "tea.pdf"),
    pdfWithPages(["Green tea wants seventy degrees.", "Black tea wants ninety.", "White tea is mild."]),
  );
  await writeFile(join(bench.workspace, "harbour.md"), "# Harbour\n\nThe harbour freezes in January.\n");
  await symlink("/etc/passwd", join(bench.workspace, "passwd.pdf"));
});
afterAll(() => bench.close());

type Ended = { readonly tool: string; readonly status: string; readonly output: string };

async function sql(query: string): Promise<JsonObject[]> {
  const ran = await bench.claw("sql", query, "--json");
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Lets the rehearsing model call one tool, and gives what came of it. */
async function call(tool: string, args: JsonObject): Promise<Ended> {
  const said = await bench.claw("say", `call ${tool} ${JSON.stringify(args)}`, "--yolo");
  if (said.code !== 0) throw new Error(said.stderr);
  const [last] = await sql("select tool, status, output from calls order by time desc limit 1");
  return last as Ended;
}

async function told<T = JsonObject>(tool: string, args: JsonObject): Promise<T> {
  const { status, output } = await call(tool, args);
  if (status !== "done") throw new Error(output);
  return JSON.parse(output) as T;
}

test(
  "memory_search answers in its shape, and names the field that is missing",
  async () => {
    expect(await bench.claw("memory", "index", bench.workspace)).toMatchObject({ code: 0 });
    const found = await told<{ results: JsonObject[]; count: number }>("memory_search", { query: "harbour freezes" });
    expect(found.count).toBe(found.results.length);
    const { results } = found;
    expect(results.find(({ kind }) => kind === "file")).toMatchObject({
      path: "harbour.md",
      snippet: expect.stringContaining("January"),
      author: "file",
    });
    expect((await call("memory_search", {})).output).toContain("Missing required field 'query'");
  },
  TIMEOUT_MS,
);

test(
  "what a model remembers is seen by /memory, by another session and by claw sql, until it is forgotten",
  async () => {
    const kept = await told("remember", { content: "The owner likes blue.", type: "preference" });
    expect(kept).toMatchObject({ success: true, memory_id: expect.any(String) });
    expect((await bench.claw("say", "/memory list")).stdout).toContain("The owner likes blue.");
    expect((await bench.claw("say", "/remember the cat is called Tom")).stdout).toContain("Remembered as note");
    const recalled = await told<{ memories: JsonObject[] }>("recall", { query: "which colour does the owner like" });
    expect(recalled.memories[0]).toMatchObject({ memory_id: kept.memory_id, type: "preference" });
    const notes = await sql("select text, author, type from notes order by time");
    expect(notes).toEqual([
      { text: "The owner likes blue.", author: "agent", type: "preference" },
      { text: "the cat is called Tom", author: "owner", type: "general" },
    ]);
    expect(await told("forget", { memory_id: String(kept.memory_id) })).toMatchObject({
      preview: "The owner likes blue.",
    });
    expect((await bench.claw("say", "/memory list")).stdout).not.toContain("blue");
  },
  TIMEOUT_MS,
);

test(
  "recall finds what was said in earlier conversations",
  async () => {
    await bench.claw("say", "my sister lives in Trondheim");
    const { messages } = await told<{ messages: JsonObject[] }>("recall", { query: "sister Trondheim" });
    expect(messages[0]).toMatchObject({ text: "my sister lives in Trondheim", age: "<1min ago" });
  },
  TIMEOUT_MS,
);

test(
  "vectors and texts outlive the daemon",
  async () => {
    await told("vector_db_create_index", { index_name: "colours", dimension: 3 });
    for (const vector of [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ]) {
      await told("vector_db_add_vector", { index_name: "colours", vector });
    }
    await told("vector_db_add_text", { text: "lighthouses warn ships", index_name: "sea" });
    expect(await bench.claw("down")).toMatchObject({ code: 0 });
    expect(await told("vector_db_list_indices", {})).toEqual({ indices: ["colours", "sea"] });
    const search = { index_name: "colours", query_vector: [10, 250, 0], k: 2 };
    expect(await told<JsonObject[]>("vector_db_search", search)).toEqual([
      { label: 1, distance: 125 },
      { label: 0, distance: 122_525 },
    ]);
    const [text] = await told<JsonObject[]>("vector_db_search_text", { query: "ships", index_name: "sea" });
    expect(text).toMatchObject({ id: 0, content: "lighthouses warn ships" });
    expect((await call("vector_db_get_vector", { index_name: "colours", label: 9 })).output).toContain(
      "Element not found",
    );
    expect((await call("vector_db_search", { ...search, query_vector: [1] })).output).toContain("dimension mismatch");
    expect((await readdir(join(bench.home, "vectors"))).length).toBe(2);
  },
  TIMEOUT_MS,
);

test(
  "a PDF is read by pages, only inside the workspace, and later questions find it",
  async () => {
    const page = await told("pdf_extract_text", { file_path: "tea.pdf", start_page: 1, end_page: 1 });
    expect(page).toMatchObject({ success: true, page_count: 3, text: expect.stringContaining("Black tea") });
    expect(String(page.text)).not.toContain("Green");
    for (const file of ["passwd.pdf", "../tea.pdf", "/etc/passwd", join(bench.home, "config.toml")]) {
      expect((await call("pdf_extract_text", { file_path: file })).status).not.toBe("done");
      expect((await call("vector_db_add_pdf_document", { pdf_path: file })).status).not.toBe("done");
    }
    expect((await call("pdf_extract_text", { file_path: "harbour.md" })).output).toContain("not a PDF");
    expect((await call("pdf_extract_text", { file_path: "none.pdf" })).output).toContain("none.pdf");
    const kept = await eventually(
      () => sql("select path, kind, author, text from memory_chunks where source = 'documents'"),
      (rows) => rows.length > 0,
      "the PDF's text in memory",
    );
    expect(kept[0]).toMatchObject({ kind: "document", author: "stranger", text: expect.stringContaining("White tea") });
  },
  TIMEOUT_MS,
);

test(
  "claw sql shows what is indexed, anew after each change, and nothing else of the machine",
  async () => {
    const documents = "select path, kind, chunks from memory_documents where kind = 'file' order by path";
    const before = await sql(documents);
    expect(before.map(({ path }) => path)).toEqual([join(bench.workspace, "harbour.md")]);
    await writeFile(join(bench.workspace, "fjord.md"), "A fjord is deep.\n");
    expect(await bench.claw("memory", "index", bench.workspace)).toMatchObject({ code: 0 });
    expect(await sql(documents)).toHaveLength(2);
    expect(await sql("select count(*) as n from memory_vectors")).toHaveLength(1);
    for (const hostile of [
      `select * from memory_chunks, '${join(bench.home, "memory", "memory.duckdb")}'`,
      `select * from memory_chunks, read_text('${join(bench.home, "config.toml")}')`,
      `copy (select * from memory_chunks) to '${join(bench.workspace, "out.csv")}'`,
    ]) {
      expect((await bench.claw("sql", hostile)).code).not.toBe(0);
    }
    expect(await readdir(bench.workspace)).not.toContain("out.csv");
  },
  TIMEOUT_MS,
);
