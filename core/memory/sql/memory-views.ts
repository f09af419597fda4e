import { join } from "node:path";

// What `claw sql` sees of memory's store: files that the daemon wrote for it, read where they lie. Everything else that
// is a file stays out of reach.

/** Another part of the hint of every refused query. */
export const MEMORY_VIEWS_HINT = [
  "memory_documents(source, path, kind, author, hash, session, labels, chunks, changed_at)",
  "memory_chunks(source, path, kind, author, id, ordinal, line, page, title, text)",
  "memory_vectors(embedder, dimensions, count)",
] as const;

type View = {
  readonly name: string;
  /** Of the file, as the view shows it. */
  readonly select: string;
  /** The same without a file. */
  readonly empty: string;
};

const VIEWS: readonly View[] = [
  {
    name: "memory_documents",
    select: "source, path, kind, author, hash, nullif(session_id, '') AS session, labels, chunks, changed_at",
    empty: columns(
      ["source", "path", "kind", "author", "hash", "session", "labels"],
      "NULL::BIGINT AS chunks, NULL::TIMESTAMP AS changed_at",
    ),
  },
  {
    name: "memory_chunks",
    select: "source, path, kind, author, id, ordinal, line, page, title, text",
    empty: columns(
      ["source", "path", "kind", "author", "title", "text"],
      "NULL::BIGINT AS id, NULL::BIGINT AS ordinal, NULL::BIGINT AS line, NULL::BIGINT AS page",
    ),
  },
  {
    name: "memory_vectors",
    select: "embedder, dimensions, count",
    empty: columns(["embedder"], "NULL::BIGINT AS dimensions, NULL::BIGINT AS count"),
  },
];

function columns(texts: readonly string[], others: string): string {
  return `${texts.map((name) => `NULL::VARCHAR AS ${name}`).join(", ")}, ${others}`;
}

/** True when a query may mean one of them: only then somebody has to write the files. */
export function namesMemoryView(sql: string): boolean {
  return /memory_(?:documents|chunks|vectors)/i.test(sql);
}

/** The statements that make the views, before the database is locked. */
export function memoryViews(folder: string): string {
  return VIEWS.map(({ name, select, empty }) =>
    folder === ""
      ? `CREATE VIEW ${name} AS SELECT ${empty} WHERE false;`
      : `CREATE VIEW ${name} AS SELECT ${select} FROM read_parquet(${sqlText(fileOf(folder, name))});`,
  ).join("\n");
}

/** The statement that leaves those files, and no other, in reach. */
export function allowMemoryFiles(folder: string): string {
  return `SET allowed_paths = [${VIEWS.map(({ name }) => sqlText(fileOf(folder, name))).join(", ")}]`;
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.parquet`);
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
