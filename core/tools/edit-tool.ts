import type { BigIntStats } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { writeAtomically } from "./atomic-write.ts";
import { openFile } from "./confined-open.ts";
import { onFile } from "./file-failure.ts";
import { withNearestName } from "./nearest-file.ts";
import { readWhole } from "./text-lines.ts";
import { replaceText } from "./text-replacement.ts";
import { count, done, FILE_TIMEOUT_MS, failed, flagArg, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, lexicalPath, type Workspace } from "./workspace.ts";

const FILE_LIMIT_BYTES = 8 * 1024 * 1024;

type ReadText = { readonly text: string; readonly shown: string; readonly version: BigIntStats };

export function editTool(hidden: HiddenPaths): Tool {
  return {
    name: "edit",
    description:
      "Replace a piece of text in a file of the workspace. old_text must stand in the file exactly once, with its white space, unless all is true.",
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, relative to the workspace." },
        old_text: { type: "string", minLength: 1, description: "The text to replace, exactly as it stands there." },
        new_text: { type: "string", description: "What stands there afterwards; empty to remove it." },
        all: { type: "boolean", description: "Replace every place; false by default." },
      },
      required: ["path", "old_text", "new_text"],
      additionalProperties: false,
    },
    aliases: ["edit_file", "file_edit", "str_replace", "replace_in_file", "apply_delta", "search_replace", "Edit"],
    category: "file_write",
    rerun: "unsafe",
    timeoutMs: FILE_TIMEOUT_MS,
    needs(args, workspace) {
      const path = lexicalPath(textArg(args, "path"), workspace);
      return [
        { kind: "read", path },
        { kind: "write", path },
      ];
    },
    run: inWorkspace(hidden, edit),
  };
}

async function edit(args: JsonObject, workspace: Workspace, { signal }: ToolContext): Promise<ToolOutcome> {
  const path = textArg(args, "path");
  const old = await readText(workspace, path);
  if (!old.ok) return failed(await withNearestName(old.failure, workspace, path, signal));
  const { text, shown, version } = old.value;
  const changed = replaceText(text, textArg(args, "old_text"), textArg(args, "new_text"), flagArg(args, "all"), shown);
  if (!changed.ok) return failed(changed.failure);
  const content = Buffer.from(changed.value.text);
  const written = await writeAtomically(workspace, path, content, version);
  if (!written.ok) return failed(written.failure);
  const { places, firstLine } = changed.value;
  return done(`Changed ${shown} in ${count(places, "place")}, ${places === 1 ? "at" : "first at"} line ${firstLine}.`);
}

async function readText(workspace: Workspace, path: string): Promise<Result<ReadText>> {
  const opened = await openFile(workspace, path);
  if (!opened.ok) return opened;
  const { handle, shown } = opened.value;
  await using _ = handle;
  // Before the content: whoever writes in between changes it.
  const version = await onFile(shown, () => handle.stat({ bigint: true }));
  if (!version.ok) return version;
  const bytes = await onFile(shown, () => readWhole(handle, FILE_LIMIT_BYTES));
  if (!bytes.ok) return bytes;
  if (bytes.value === undefined) {
    return fail("invalid", `${shown} is larger than ${count(FILE_LIMIT_BYTES, "byte")}`, { hint: "use the shell" });
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.value);
    return ok({ text, shown, version: version.value });
  } catch (cause) {
    return fail("invalid", `${shown} is not UTF-8 text, so an edit would damage it`, { hint: "use the shell", cause });
  }
}
