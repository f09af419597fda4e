import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { openFolder } from "./confined-open.ts";
import { readLinkEntry, type Walked, walkFolder } from "./folder-walk.ts";
import { count, done, FILE_TIMEOUT_MS, failed, flagArg, numberArg, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, lexicalPath, type Workspace } from "./workspace.ts";

const DEFAULT_ENTRIES = 500;
const ENTRIES_LIMIT = 2_000;
const OUTPUT_LIMIT_CHARS = 60_000;
const SKIPS_SHOWN = 5;

export function listTool(hidden: HiddenPaths): Tool {
  return {
    name: "list",
    description:
      "List a folder of the workspace, one path a line, relative to the workspace; folders end in /. With recursive also what is below it, except in .git and node_modules.",
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The folder; the workspace itself by default." },
        recursive: { type: "boolean", description: "Also what is below its folders; false by default." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: ENTRIES_LIMIT,
          description: `Most entries; ${DEFAULT_ENTRIES} by default.`,
        },
      },
      additionalProperties: false,
    },
    aliases: ["list_dir", "list_directory", "list_files", "list_folder", "read_dir", "ls", "dir", "LS"],
    category: "file_read",
    rerun: "safe",
    timeoutMs: FILE_TIMEOUT_MS,
    needs: (args, workspace) => [{ kind: "read", path: lexicalPath(textArg(args, "path", "."), workspace) }],
    run: inWorkspace(hidden, list),
  };
}

async function list(args: JsonObject, workspace: Workspace, { signal }: ToolContext): Promise<ToolOutcome> {
  const folder = await openFolder(workspace, textArg(args, "path", "."));
  if (!folder.ok) return failed(folder.failure);
  await using _ = folder.value.handle;
  const limit = numberArg(args, "limit", DEFAULT_ENTRIES);
  const skips: string[] = [];
  const options = { recursive: flagArg(args, "recursive"), signal, skipped: (what: string) => skips.push(what) };
  const lines: string[] = [];
  let chars = 0;
  let isCut = false;
  for await (const entry of walkFolder(folder.value, options)) {
    if (lines.length === limit || chars > OUTPUT_LIMIT_CHARS) {
      isCut = true;
      break;
    }
    const line = await showEntry(entry);
    chars += line.length + 1;
    lines.push(line);
  }
  if (signal.aborted) return failed({ code: "cancelled", message: "listing was stopped" }, lines.join("\n"));
  if (isCut)
    lines.push(`[only the first ${count(lines.length, "entry", "entries")} are shown; list a folder below, or grep]`);
  if (skips.length > 0)
    lines.push(
      `[not looked into: ${skips.slice(0, SKIPS_SHOWN).join("; ")}${skips.length > SKIPS_SHOWN ? "; …" : ""}]`,
    );
  return done(lines.length === 0 ? "[the folder is empty]" : lines.join("\n"));
}

async function showEntry(entry: Walked): Promise<string> {
  const path = join(entry.folder.shown, entry.name);
  switch (entry.kind) {
    case "file":
      return path;
    case "folder":
      return `${path}/`;
    case "link":
      return `${path} -> ${await readLinkEntry(entry)}`;
    case "other":
      return `${path} (not a regular file)`;
  }
}
