import { basename, dirname } from "node:path";
import type { Failure } from "../domain/failure.ts";
import { nearestWord } from "../domain/nearest-word.ts";
import { openFolder } from "./confined-open.ts";
import { walkFolder } from "./folder-walk.ts";
import type { Workspace } from "./workspace.ts";

/** A wrong name is most often a typing mistake in the last part. */
export async function withNearestName(
  failure: Failure,
  workspace: Workspace,
  path: string,
  signal: AbortSignal,
): Promise<Failure> {
  if (failure.code !== "not_found") return failure;
  const folder = await openFolder(workspace, dirname(path));
  if (!folder.ok) return failure;
  await using _ = folder.value.handle;
  const names: string[] = [];
  for await (const { name, kind } of walkFolder(folder.value, { recursive: false, signal, skipped: () => {} })) {
    if (kind === "file") names.push(name);
  }
  const nearest = nearestWord(basename(path), names);
  if (nearest === undefined) return failure;
  const near = folder.value.shown === "." ? nearest : `${folder.value.shown}/${nearest}`;
  return { ...failure, hint: `Did you mean ${near}?` };
}
