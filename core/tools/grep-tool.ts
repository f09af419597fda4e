import { relative } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { type OpenedFile, openEntry, openFile, openFolder } from "./confined-open.ts";
import { onFile } from "./file-failure.ts";
import { walkFolder } from "./folder-walk.ts";
import { compileGlob, type Glob } from "./glob.ts";
import { compilePattern, type LineMatch, searchLines } from "./line-search.ts";
import { isBinary, readWhole } from "./text-lines.ts";
import { count, done, failed, flagArg, numberArg, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, lexicalPath, type Workspace } from "./workspace.ts";

const TIMEOUT_MS = 60_000;
const FILE_LIMIT_BYTES = 4 * 1024 * 1024;
const DEFAULT_MATCHES = 100;
const MATCHES_LIMIT = 1_000;
const OUTPUT_LIMIT_CHARS = 60_000;
/** Shown of a matching line: a little before the match and what follows. */
const LINE_LIMIT_CHARS = 300;
const BEFORE_MATCH_CHARS = 80;
const PATTERN_LIMIT_CHARS = 1_000;

type Search = {
  readonly pattern: RegExp;
  readonly limit: number;
  readonly found: string[];
  chars: number;
  files: number;
  binary: number;
  large: number;
  unreadable: number;
};

export function grepTool(hidden: HiddenPaths): Tool {
  return {
    name: "grep",
    description:
      "Search the text files of the workspace line by line with a JavaScript regular expression. Shows path:line: text. Leaves out .git, node_modules, binary files and links.",
    input: {
      type: "object",
      properties: {
        pattern: {
          type: "string",
          minLength: 1,
          maxLength: PATTERN_LIMIT_CHARS,
          description: "The regular expression; it matches within one line.",
        },
        path: { type: "string", minLength: 1, description: "Folder or file to search; the workspace by default." },
        include: {
          type: "string",
          minLength: 1,
          maxLength: 200,
          description: "Only these files, e.g. *.ts or src/**/*.{ts,js}.",
        },
        ignore_case: { type: "boolean", description: "False by default." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MATCHES_LIMIT,
          description: `Most matching lines; ${DEFAULT_MATCHES} by default.`,
        },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    aliases: ["grep_search", "search_files", "search_file_content", "search_text", "ripgrep", "rg", "Grep"],
    category: "file_read",
    rerun: "safe",
    timeoutMs: TIMEOUT_MS,
    needs: (args, workspace) => [{ kind: "read", path: lexicalPath(textArg(args, "path", "."), workspace) }],
    run: inWorkspace(hidden, grep),
  };
}

async function grep(args: JsonObject, workspace: Workspace, { signal }: ToolContext): Promise<ToolOutcome> {
  const pattern = compilePattern(textArg(args, "pattern"), flagArg(args, "ignore_case"));
  if (!pattern.ok) return failed(pattern.failure);
  const glob = compileGlob(textArg(args, "include", "*"));
  if (glob === undefined) return failed(fail("invalid", "include has too many alternatives in braces").failure);
  const limit = numberArg(args, "limit", DEFAULT_MATCHES);
  const search: Search = {
    pattern: pattern.value,
    limit,
    found: [],
    chars: 0,
    files: 0,
    binary: 0,
    large: 0,
    unreadable: 0,
  };
  const searched = await searchPath(search, workspace, textArg(args, "path", "."), glob, signal);
  if (!searched.ok) return failed(searched.failure, search.found.join("\n"));
  if (signal.aborted) return failed({ code: "cancelled", message: "the search was stopped" }, report(search));
  return done(report(search));
}

async function searchPath(
  search: Search,
  workspace: Workspace,
  path: string,
  glob: Glob,
  signal: AbortSignal,
): Promise<Result<void>> {
  const folder = await openFolder(workspace, path);
  if (!folder.ok) {
    if (folder.failure.code !== "invalid") return folder;
    const file = await openFile(workspace, path);
    return file.ok ? searchFile(search, file.value) : file;
  }
  await using _ = folder.value.handle;
  const root = folder.value.shown;
  const options = {
    recursive: true,
    signal,
    skipped: () => {
      search.unreadable += 1;
    },
  };
  for await (const entry of walkFolder(folder.value, options)) {
    if (isFull(search)) break;
    if (entry.kind !== "file" || !glob(relative(root, `${entry.folder.shown}/${entry.name}`))) continue;
    const file = await openEntry(entry.folder, entry.name);
    if (!file.ok) {
      search.unreadable += 1;
      continue;
    }
    const searched = await searchFile(search, file.value);
    if (!searched.ok) return searched;
  }
  return ok(undefined);
}

async function searchFile(search: Search, { handle, shown }: OpenedFile): Promise<Result<void>> {
  await using _ = handle;
  const bytes = await onFile(shown, () => readWhole(handle, FILE_LIMIT_BYTES));
  if (!bytes.ok) search.unreadable += 1;
  else if (bytes.value === undefined) search.large += 1;
  else if (isBinary(bytes.value)) search.binary += 1;
  else {
    search.files += 1;
    const matches = await searchLines(search.pattern, bytes.value.toString("utf8"), search.limit - search.found.length);
    if (!matches.ok)
      return { ok: false, failure: { ...matches.failure, message: `${matches.failure.message} of ${shown}` } };
    for (const match of matches.value) {
      if (isFull(search)) break;
      const line = `${shown}:${match.line}: ${clipLine(match)}`;
      search.found.push(line);
      search.chars += line.length + 1;
    }
  }
  return ok(undefined);
}

function isFull(search: Search): boolean {
  return search.found.length >= search.limit || search.chars > OUTPUT_LIMIT_CHARS;
}

function clipLine({ text, column }: LineMatch): string {
  if (text.length <= LINE_LIMIT_CHARS) return text;
  const from = Math.max(0, column - BEFORE_MATCH_CHARS);
  const to = from + LINE_LIMIT_CHARS;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

function report(search: Search): string {
  const { found, files, binary, large, unreadable } = search;
  const left = [
    binary > 0 ? count(binary, "binary file") : "",
    large > 0 ? `${count(large, "file")} over ${count(FILE_LIMIT_BYTES, "byte")}` : "",
    unreadable > 0 ? `${unreadable} that could not be read` : "",
  ].filter((part) => part !== "");
  const notes = [
    found.length === 0 ? `[no match in ${count(files, "file")}]` : "",
    isFull(search)
      ? `[stopped after ${count(found.length, "match", "matches")}; there may be more: narrow path or include, or raise limit]`
      : "",
    left.length > 0 ? `[not searched: ${left.join(", ")}]` : "",
  ].filter((note) => note !== "");
  return [...found, ...notes].join("\n");
}
