import type { DocumentSources } from "../domain/document-source.ts";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import type { IndexTarget } from "../domain/memory.ts";
import { type RunTarget, resolveFolder } from "./index-run.ts";
import type { DocumentFeed } from "./source/document-feed.ts";
import { rootOf, type SourceList, withFolder, withoutFolder, withoutSource, withSource } from "./store/source-list.ts";

/** What may have changed in a listed folder: files and folders, relative to it, "" for all of it. It stays listed, gone or not. */
export type ChangedPaths = { readonly kind: "paths"; readonly folder: string; readonly paths: readonly string[] };

export type AimOptions = {
  readonly sources: DocumentSources;
  readonly sourceFeed: (source: ReturnType<DocumentSources>[number]) => DocumentFeed;
  /** Undefined when conversations are not indexed. */
  readonly conversations: (() => DocumentFeed) | undefined;
};

/** A target with what is to be written down about it before it shows. */
export type Aim = { readonly target: RunTarget; readonly list: (list: SourceList) => SourceList };

/** What a run is about. Changes nothing. */
export async function aimAt(
  target: IndexTarget | ChangedPaths,
  list: SourceList,
  options: AimOptions,
): Promise<Result<Aim>> {
  switch (target.kind) {
    case "folder":
      return aimAtFolder(target.folder, list);
    case "dropFolder":
      return aimAtListedFolder(target.folder, list);
    case "dropSource":
      return aimAtListedSource(target.name, list);
    case "paths":
      return aimAtPaths(target, list);
    case "source":
      return aimAtSource(target.name, options);
    case "conversations": {
      const { conversations } = options;
      if (conversations !== undefined) return ok({ target: { kind: "feed", feed: conversations() }, list: same });
      return fail("denied", "conversations are not indexed", { hint: "set conversations = true under [memory]" });
    }
  }
}

/** What a watcher saw in a folder that was taken out meanwhile is nobody's business any more. */
async function aimAtPaths(target: ChangedPaths, { folders }: SourceList): Promise<Result<Aim>> {
  const { folder, paths } = target;
  if (!folders.includes(folder)) {
    return fail("not_found", `${folder} is not an indexed folder`, { hint: "index it first" });
  }
  if (!paths.includes("")) return ok({ target, list: same });
  const found = await resolveFolder(folder);
  // In its place may be a file now, which is no folder either.
  if (!found.ok && found.failure.code !== "invalid") return found;
  return ok({ target: { kind: "folder", folder, root: folder, exists: found.ok && found.value.exists }, list: same });
}

async function aimAtFolder(path: string, list: SourceList): Promise<Result<Aim>> {
  const folder = await resolveFolder(path);
  if (!folder.ok) return folder;
  const { path: real, exists } = folder.value;
  const root = rootOf(list, real);
  if (!exists && root === undefined) return noFolder(path);
  return ok({
    target: { kind: "folder", folder: real, root: root ?? real, exists },
    list: (now) => (exists ? withFolder(now, real) : now),
  });
}

async function aimAtSource(name: string, { sources, sourceFeed }: AimOptions): Promise<Result<Aim>> {
  const source = sources().find((one) => one.name === name);
  if (source !== undefined) {
    return ok({ target: { kind: "feed", feed: sourceFeed(source) }, list: (list) => withSource(list, name) });
  }
  const offered = sources().map((one) => one.name);
  return fail("not_found", `there is no source ${JSON.stringify(name)}`, {
    hint: offered.length === 0 ? "no plugin that is turned on offers one" : `there are ${offered.join(", ")}`,
  });
}

async function aimAtListedFolder(path: string, list: SourceList): Promise<Result<Aim>> {
  const found = await resolveFolder(path);
  if (!found.ok) return found;
  const folder = found.value.path;
  const root = rootOf(list, folder);
  if (root === folder)
    return ok({ target: { kind: "forget", source: `folder:${folder}` }, list: (now) => withoutFolder(now, folder) });
  return fail("not_found", `${path} is not an indexed folder`, {
    hint:
      root === undefined
        ? `indexed are ${namesOf(list.folders)}`
        : `it is part of ${root}: name it in ${root}/.clawdignore, then index that again`,
  });
}

async function aimAtListedSource(name: string, list: SourceList): Promise<Result<Aim>> {
  if (list.sources.includes(name))
    return ok({ target: { kind: "forget", source: name }, list: (now) => withoutSource(now, name) });
  return fail("not_found", `${JSON.stringify(name)} is not an indexed source`, {
    hint: `indexed are ${namesOf(list.sources)}`,
  });
}

/** Of a folder that is gone a run takes out what it had; one that never was is an error of whoever named it. */
export function isNowhere(target: RunTarget): boolean {
  return target.kind === "folder" && !target.exists;
}

export function noFolder(path: string): Failed {
  return fail("not_found", `there is no folder ${path}`, { hint: "give the path of an existing folder" });
}

export function goneFolder(path: string): Failed {
  return fail("not_found", `${path} is gone, and nothing of it is in the index`, {
    hint: "it stays listed, and its files come back with it; `claw memory index --remove` takes it out for good",
  });
}

/** What a person calls it. */
export function nameOf(target: RunTarget): string {
  switch (target.kind) {
    case "folder":
      return target.root;
    case "paths":
      return target.folder;
    case "feed":
      return target.feed.source;
    case "forget":
      return target.source.replace(/^folder:/, "");
  }
}

function namesOf(listed: readonly string[]): string {
  return listed.length === 0 ? "none" : listed.join(", ");
}

function same(list: SourceList): SourceList {
  return list;
}
