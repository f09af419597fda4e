import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { Tool } from "../domain/tool.ts";
import { editTool } from "./edit-tool.ts";
import { grepTool } from "./grep-tool.ts";
import { listTool } from "./list-tool.ts";
import { readTool } from "./read-tool.ts";
import { withRealPaths } from "./real-paths.ts";
import { type ShellOptions, shellTool } from "./shell-tool.ts";
import { writeTool } from "./write-tool.ts";

export type ToolsOptions = {
  readonly launcher: Launcher;
  /** Absolute paths that no tool reads or writes, such as the daemon's data folder. */
  readonly protectedPaths: readonly string[];
  readonly shell: ShellOptions;
};

/** The house's own tools for files and commands. */
export function createTools({ launcher, protectedPaths, shell }: ToolsOptions): readonly Tool[] {
  const hidden = withRealPaths(protectedPaths);
  return [
    readTool(hidden),
    writeTool(hidden),
    editTool(hidden),
    listTool(hidden),
    grepTool(hidden),
    shellTool(launcher, hidden, shell),
  ];
}
