import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool, ToolOutcome } from "../domain/tool.ts";
import { writeAtomically } from "./atomic-write.ts";
import { count, done, FILE_TIMEOUT_MS, failed, textArg } from "./tool-outcome.ts";
import { type HiddenPaths, inWorkspace, lexicalPath, type Workspace } from "./workspace.ts";

export function writeTool(hidden: HiddenPaths): Tool {
  return {
    name: "write",
    description:
      "Write a whole text file of the workspace: creates it and missing folders, or replaces all of its content. To change a part of a file, use edit.",
    input: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, relative to the workspace." },
        content: { type: "string", description: "Everything that is in the file afterwards." },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    aliases: ["write_file", "file_write", "create_file", "save_file", "write_to_file", "Write"],
    category: "file_write",
    rerun: "unsafe",
    timeoutMs: FILE_TIMEOUT_MS,
    needs: (args, workspace) => [{ kind: "write", path: lexicalPath(textArg(args, "path"), workspace) }],
    run: inWorkspace(hidden, writeFile),
  };
}

async function writeFile(args: JsonObject, workspace: Workspace): Promise<ToolOutcome> {
  const content = Buffer.from(textArg(args, "content"));
  const written = await writeAtomically(workspace, textArg(args, "path"), content);
  if (!written.ok) return failed(written.failure);
  const { shown, created } = written.value;
  return done(`${created ? "Created" : "Replaced"} ${shown} (${count(content.length, "byte")}).`);
}
