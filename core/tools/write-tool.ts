import type { Tool } from "../domain/tool.ts";
import { writeAtomically } from "./atomic-write.ts";
import { withRealPaths } from "./real-paths.ts";
import { count, done, FILE_TIMEOUT_MS, failed, textArg } from "./tool-outcome.ts";
import { findWorkspace, lexicalPath } from "./workspace.ts";

export function writeTool(protectedPaths: readonly string[]): Tool {
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
    async run(args, { workspace: named }) {
      const workspace = await findWorkspace(named, protectedPaths);
      if (!workspace.ok) return failed(workspace.failure);
      const content = Buffer.from(textArg(args, "content"));
      const guarded = await withRealPaths(protectedPaths);
      const written = await writeAtomically(workspace.value, textArg(args, "path"), content, guarded);
      if (!written.ok) return failed(written.failure);
      const { shown, created } = written.value;
      return done(`${created ? "Created" : "Replaced"} ${shown} (${count(content.length, "byte")}).`);
    },
  };
}
