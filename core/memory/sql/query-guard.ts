import { fail, ok, type Result } from "../../domain/failure.ts";
import type { DuckDBConnection } from "../store/duckdb.ts";
import { VIEWS_HINT } from "./journal-views.ts";

// DuckDB's own locks close the file system, but not everything: `SELECT * FROM enable_logging(storage_path = …)` writes
// files although external access is off. So a query is also judged by its syntax tree, and what is not known is refused.

/** Functions that make rows and touch nothing but their arguments. */
const TABLE_FUNCTIONS: ReadonlySet<string> = new Set(["range", "generate_series", "unnest", "json_each", "json_tree"]);
/** Functions that do more than compute a value. */
const REFUSED_FUNCTIONS: ReadonlySet<string> = new Set([
  "write_log",
  "json_serialize_plan",
  "nextval",
  "currval",
  "getvariable",
]);

type Tree = {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly unknown[];
};

/** Says yes to exactly one SELECT over views. `hint` lists them otherwise. Needs DuckDB's json extension, which is built in. */
export async function judgeQuery(connection: DuckDBConnection, sql: string): Promise<Result<void>> {
  const parsed = await connection.runAndReadAll(
    "SELECT json_serialize_sql($1::VARCHAR, skip_null := true, skip_empty := true)",
    [sql],
  );
  // DuckDB numbers a missing location 2^64-1, which JSON.parse rounds; nobody reads it.
  const tree = JSON.parse(String(parsed.getRows()[0]?.[0])) as Tree;
  if (tree.error && tree.error_type === "parser")
    return refuse(`the query cannot be read: ${tree.error_message ?? "syntax error"}`);
  if (tree.error || tree.statements?.length !== 1) return refuse("a query is exactly one SELECT");
  const refused = findRefused(tree.statements);
  return refused === undefined ? ok(undefined) : refuse(refused);
}

function refuse(message: string) {
  return fail("invalid", message, { hint: VIEWS_HINT });
}

function findRefused(root: unknown): string | undefined {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== "object" || node === null) continue;
    const refused = judgeNode(node as Readonly<Record<string, unknown>>);
    if (refused !== undefined) return refused;
    for (const child of Object.values(node)) pending.push(child);
  }
  return undefined;
}

function judgeNode(node: Readonly<Record<string, unknown>>): string | undefined {
  if (node.type === "TABLE_FUNCTION") {
    const name = functionName(node.function);
    if (!TABLE_FUNCTIONS.has(name)) return `a query may not read from ${name}(…)`;
  }
  if (node.type === "FUNCTION") {
    const name = functionName(node);
    if (REFUSED_FUNCTIONS.has(name)) return `a query may not call ${name}(…)`;
  }
  return node.type === "PARAMETER" || node.class === "PARAMETER" ? "a query has no parameters" : undefined;
}

function functionName(node: unknown): string {
  const name = typeof node === "object" && node !== null && "function_name" in node ? node.function_name : undefined;
  return typeof name === "string" ? name.toLowerCase() : "an unnamed function";
}
