import type { JsonObject } from "@bufbuild/protobuf";
import { parse, TomlError } from "smol-toml";
import { tableToJson } from "../../plugin-host/manifest/toml-json.ts";
import { fail, ok, type Result } from "../domain/failure.ts";

/** Tables of tables, each of which somebody else judges. */
const NAMED_TABLES = ["plugins", "mcp_servers"] as const;

/** A TOML file taken apart, with the lines on which its keys stand. */
export type ConfigTree = {
  /** Every value outside the named tables, with its dotted key. */
  readonly leaves: readonly (readonly [key: string, value: unknown])[];
  /** [plugins.NAME] and [mcp_servers.NAME], by name. */
  readonly tables: Readonly<Record<(typeof NAMED_TABLES)[number], ReadonlyMap<string, JsonObject>>>;
  /** File and line of a dotted key, for messages. */
  readonly where: (key: string) => string;
};

/** @param file for messages only */
export function readConfigTree(text: string, file: string): Result<ConfigTree> {
  const where = (key: string) => `${file} line ${lineOf(text, key)}`;
  let tree: Record<string, unknown>;
  try {
    tree = parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split("\n", 1)[0] ?? "not TOML";
    return fail("invalid", `${file} line ${cause.line}: ${reason}`, {
      hint: "mend the line; the daemon reads it at its next start",
      cause,
    });
  }
  const plugins = readTables(tree, "plugins", where);
  if (!plugins.ok) return plugins;
  const servers = readTables(tree, "mcp_servers", where);
  if (!servers.ok) return servers;
  const others = { ...tree };
  for (const key of NAMED_TABLES) {
    const below = tree[key];
    if (isTable(below)) others[key] = withoutTables(below);
  }
  return ok({ leaves: [...leaves(others, "")], tables: { plugins: plugins.value, mcp_servers: servers.value }, where });
}

/** The tables below a key of the file by name; what else stands there is a key like any other. */
function readTables(
  tree: Record<string, unknown>,
  key: (typeof NAMED_TABLES)[number],
  where: ConfigTree["where"],
): Result<ReadonlyMap<string, JsonObject>> {
  const tables = new Map<string, JsonObject>();
  const below = tree[key];
  if (!isTable(below)) return ok(tables);
  for (const [name, table] of Object.entries(below)) {
    if (!isTable(table)) continue;
    const json = tableToJson(table, `${key}.${name}`);
    if (!json.ok) {
      const { path, problem, hint } = json.unsayable;
      return fail("invalid", `${where(path)}: ${path} ${problem}`, { hint });
    }
    tables.set(name, json.json);
  }
  return ok(tables);
}

function withoutTables(table: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => !isTable(value)));
}

/** Every value that is not a table, with its dotted key. */
function* leaves(tree: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(tree)) {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (isTable(value)) yield* leaves(value, key);
    else yield [key, value];
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The line on which a dotted key is set, from 1; 1 when it is written in a form that this does not find. */
function lineOf(text: string, key: string): number {
  const name = key.slice(key.lastIndexOf(".") + 1);
  const table = key.slice(0, Math.max(0, key.length - name.length - 1));
  let current = "";
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*\[([^[\]]+)\]/.exec(line)?.[1];
    if (header !== undefined) current = header.replaceAll(" ", "");
    const assigned = /^\s*([A-Za-z0-9_.-]+)\s*=/.exec(line)?.[1];
    if (assigned === undefined) continue;
    if ((current === "" ? assigned : `${current}.${assigned}`) === key || (current === table && assigned === name))
      return index + 1;
  }
  return 1;
}
