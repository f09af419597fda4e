import { resolve } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

type Tool = {
  readonly theirs: string;
  /** Our arguments → theirs, where they differ. */
  readonly args: Readonly<Record<string, string>>;
  /** Our argument that is a path: theirs is absolute. */
  readonly path?: string;
};

/** Tools of ours that Claude Code has under another name. */
const TOOLS: Readonly<Record<string, Tool>> = {
  shell: { theirs: "Bash", args: { timeout_ms: "timeout" } },
  read: { theirs: "Read", args: { path: "file_path" }, path: "path" },
  write: { theirs: "Write", args: { path: "file_path" }, path: "path" },
  edit: {
    theirs: "Edit",
    args: { path: "file_path", old_text: "old_string", new_text: "new_string", all: "replace_all" },
    path: "path",
  },
  grep: { theirs: "Grep", args: { include: "glob", ignore_case: "-i", limit: "head_limit" }, path: "path" },
  find: { theirs: "Glob", args: {}, path: "path" },
  list: { theirs: "LS", args: {}, path: "path" },
  fetch: { theirs: "WebFetch", args: {} },
  subagent: { theirs: "Task", args: {} },
  todo_write: { theirs: "TodoWrite", args: {} },
};

function toolNamed(name: string): Tool | undefined {
  return Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
}

/** What Claude Code calls one of our tools; its own name when it has no other. */
export function theirToolName(tool: string): string {
  return toolNamed(tool)?.theirs ?? tool;
}

function theirValue(tool: Tool | undefined, key: string, value: JsonValue, workspace: string): JsonValue {
  return tool?.path === key && typeof value === "string" ? resolve(workspace, value) : value;
}

/** Our arguments under their names; paths are absolute there. */
export function theirInput(name: string, args: JsonObject, workspace: string): JsonObject {
  const tool = toolNamed(name);
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [tool?.args[key] ?? key, theirValue(tool, key, value, workspace)]),
  );
}

/** Their input under our names. What they did not touch stays as it was written. */
export function ourArgs(name: string, input: JsonObject, before: JsonObject, workspace: string): JsonObject {
  const tool = toolNamed(name);
  const ours = new Map(Object.entries(tool?.args ?? {}).map(([own, theirs]) => [theirs, own]));
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      const own = ours.get(key) ?? key;
      const old = before[own];
      const untouched =
        old !== undefined && JSON.stringify(theirValue(tool, own, old, workspace)) === JSON.stringify(value);
      return [own, untouched ? old : value];
    }),
  );
}
