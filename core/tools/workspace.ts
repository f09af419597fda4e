import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../domain/tool.ts";
import { onFile } from "./file-failure.ts";
import { isWithin } from "./protected-path.ts";
import { failed } from "./tool-outcome.ts";

/** The folder that the file tools may touch: as the session names it, and where it really is. */
export type Workspace = {
  readonly named: string;
  readonly real: string;
  /** Real paths inside it that no tool sees, such as the daemon's data folder: keys and the token lie there. */
  readonly hidden: readonly string[];
};

/** Kernel interfaces: the daemon's own memory and environment can be read there. They count when the workspace is `/`. */
const NEVER_TOUCHED = ["/proc", "/sys", "/dev", "/run"];

/** Absolute paths that no tool sees, as they are named and as they really are: found out once, when the house is built. */
export type HiddenPaths = Promise<readonly string[]>;

/** A tool's run that gets the session's folder as it really is. */
export function inWorkspace(
  hidden: HiddenPaths,
  run: (args: JsonObject, workspace: Workspace, context: ToolContext) => Promise<ToolOutcome>,
): Tool["run"] {
  return async (args, context) => {
    const workspace = await findWorkspace(context.workspace, hidden);
    return workspace.ok ? run(args, workspace.value, context) : failed(workspace.failure);
  };
}

/** For readers of files that are no tools themselves. */
export async function findWorkspace(named: string, hidden: HiddenPaths): Promise<Result<Workspace>> {
  const real = await onFile(`workspace ${named}`, () => realpath(named));
  return real.ok ? ok({ named, real: real.value, hidden: await hidden }) : real;
}

/** The absolute lexical path that a model means; says nothing of whether it may. */
export function lexicalPath(path: string, workspace: string): string {
  return resolve(workspace, path);
}

/** The absolute lexical path, when it is inside by its spelling. Where it leads is seen when it is open. */
export function placeInside(workspace: Workspace, path: string): Result<string> {
  if (path === "" || path.includes("\0")) return fail("invalid", "the path is empty or has a NUL character in it");
  if (path === "~" || path.startsWith("~/")) {
    return fail("invalid", `${path} is not resolved`, { hint: "write paths relative to the workspace" });
  }
  const place = lexicalPath(path, workspace.named);
  const isInside = isWithin(workspace.named, place) || isWithin(workspace.real, place);
  return isInside ? ok(place) : outside(path, workspace);
}

/** Judges the real path of something that is open. */
export function checkReal(workspace: Workspace, real: string, shown: string): Result<string> {
  if (NEVER_TOUCHED.some((root) => isWithin(root, real) && !isWithin(root, workspace.real))) {
    return fail("denied", `${shown} is the system's own, not a file`);
  }
  if (workspace.hidden.some((root) => isWithin(root, real))) {
    return fail("denied", `${shown} is the daemon's own, and no tool sees it`);
  }
  return isWithin(workspace.real, real) ? ok(real) : outside(shown, workspace);
}

/** As the model may name it in its next call. */
export function shownPath(workspace: Workspace, path: string): string {
  const root = isWithin(workspace.real, path) ? workspace.real : workspace.named;
  return relative(root, path) || ".";
}

function outside(shown: string, workspace: Workspace): Result<never> {
  return fail("denied", `${shown} is outside the workspace ${workspace.named}`, {
    hint: "only files inside it can be touched, and no link leads out of it",
  });
}
