import type { JsonObject } from "@bufbuild/protobuf";
import { fail } from "../domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { openFile } from "./confined-open.ts";
import { onFile } from "./file-failure.ts";
import { withNearestName } from "./nearest-file.ts";
import { type LinePage, readLines } from "./text-lines.ts";
import { count, done, FILE_TIMEOUT_MS, failed, numberArg, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, lexicalPath, type Workspace } from "./workspace.ts";

const DEFAULT_LINES = 2_000;
const OUTPUT_LIMIT_CHARS = 80_000;

export function readTool(hidden: HiddenPaths): Tool {
  return {
    name: "read",
    description:
      "Read a text file of the workspace. Shows the text as it is, without line numbers. A note in brackets at the end says when more follows and how to get it.",
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, relative to the workspace." },
        offset: { type: "integer", minimum: 1, description: "First line to show; 1 by default." },
        limit: { type: "integer", minimum: 1, description: `Most lines to show; ${DEFAULT_LINES} by default.` },
      },
      required: ["path"],
      additionalProperties: false,
    },
    aliases: ["read_file", "file_read", "view_file", "open_file", "cat", "view", "get_file_contents", "Read"],
    category: "file_read",
    rerun: "safe",
    timeoutMs: FILE_TIMEOUT_MS,
    needs: (args, workspace) => [{ kind: "read", path: lexicalPath(textArg(args, "path"), workspace) }],
    run: inWorkspace(hidden, readFileLines),
  };
}

async function readFileLines(args: JsonObject, workspace: Workspace, { signal }: ToolContext): Promise<ToolOutcome> {
  const path = textArg(args, "path");
  const opened = await openFile(workspace, path);
  if (!opened.ok) return failed(await withNearestName(opened.failure, workspace, path, signal));
  const { handle, shown } = opened.value;
  // Nothing was written through it, so nobody need wait for its end.
  using _ = { [Symbol.dispose]: () => void handle.close().catch(() => {}) };
  const from = numberArg(args, "offset", 1);
  const limit = numberArg(args, "limit", DEFAULT_LINES);
  const page = await onFile(shown, () => readLines(handle, from, limit, OUTPUT_LIMIT_CHARS, signal));
  return page.ok ? showPage(page.value, shown, from) : failed(page.failure);
}

function showPage(page: LinePage, shown: string, from: number): ToolOutcome {
  if (page.kind === "interrupted") return failed(fail("cancelled", `reading ${shown} was stopped`).failure);
  if (page.kind === "binary") {
    const hint = "a program of the shell may show what is in it";
    return failed(fail("invalid", `${shown} is a binary file`, { hint }).failure);
  }
  const { text, end, nextLine } = page;
  const next = `call again with offset ${nextLine} for the rest`;
  switch (end) {
    case "lines":
    case "chars":
      return done(note(text, `lines ${from} to ${nextLine - 1} are shown; ${next}`));
    case "within-line":
      return done(
        note(
          text,
          `only the first ${count(text.length, "character")} of line ${from} are shown; for what follows it, ${next}`,
        ),
      );
    case "file": {
      if (text !== "") return done(text);
      if (nextLine === 1) return done("[the file is empty]");
      const hint = "call again with a smaller offset";
      return failed(fail("invalid", `${shown} has only ${count(nextLine - 1, "line")}`, { hint }).failure);
    }
  }
}

function note(text: string, message: string): string {
  return `${text}${text.endsWith("\n") ? "" : "\n"}[${message}]`;
}
