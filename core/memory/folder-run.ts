import { join } from "node:path";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { IndexRun } from "./index-run.ts";
import { formOf } from "./source/file-form.ts";
import { FOLDER_LIMIT_FILES, splitPaths, type WalkOutcome, type WalkRequest } from "./source/folder-walk.ts";
import type { SourceChunk } from "./source/source-chunk.ts";
import type { FileOutcome, PagesRequest, ReadRequest } from "./source/source-files.ts";
import { prefixOf } from "./store/document-table.ts";
import type { DocumentScope, DocumentToStage } from "./store/store.ts";
import {
  dropVersions,
  emptySurvey,
  groupVersions,
  hashesOf,
  keepVersion,
  roomFor,
  type Survey,
  stageNew,
  stoppedAt,
  tooMuch,
  type Versions,
} from "./survey.ts";

const BATCH_FILES = 64;

export type FolderTarget = {
  readonly folder: string;
  readonly root: string;
  readonly exists: boolean;
  /** Only these files and folders, relative. */
  readonly paths?: readonly string[];
};

/** Reads what is new in a folder and stages it. */
export async function stageFolder(run: IndexRun, target: FolderTarget): Promise<Result<Survey>> {
  const { folder, paths, exists } = target;
  const walked = exists ? await walk(run, folder, paths) : ok([]);
  if (!walked.ok) return walked;
  const stored = await run.store.documentsOf(scopeOf(folder, paths));
  if (!stored.ok) return stored;
  const room = await roomFor(run.store, stored.value);
  if (!room.ok) return room;
  const { known, extra } = await groupVersions(stored.value);
  const source = `folder:${target.root}`;
  const survey = emptySurvey(source, paths === undefined && folder === target.root);
  survey.goneIds.push(...extra);
  survey.total = walked.value.length;
  if (paths === undefined && stored.value.some((document) => document.source !== source))
    survey.adopted = { folder, source };
  while (survey.files < survey.total) {
    const batch = walked.value.slice(survey.files, survey.files + BATCH_FILES);
    const staged = await stageBatch(run, folder, batch, known, survey);
    if (!staged.ok) return staged;
    if (survey.chunks > room.value) return tooMuch(folder);
    reportSurvey(run, survey);
    if (run.signal.aborted) return stoppedAt(folder);
  }
  for (const versions of known.values()) dropVersions(survey, versions);
  return ok(survey);
}

export function reportSurvey(run: IndexRun, survey: Survey): void {
  const { files, total, chunks, skipped, removed } = survey;
  run.report({ files, filesTotal: Math.max(total, files), chunks, skipped, removed, done: false });
}

function scopeOf(folder: string, paths: readonly string[] | undefined): DocumentScope {
  if (paths === undefined || paths.includes("")) return { kind: "folder", folder };
  return { kind: "paths", paths: paths.map((path) => join(folder, path)) };
}

async function walk(
  run: IndexRun,
  folder: string,
  only: readonly string[] | undefined,
): Promise<Result<readonly string[]>> {
  const request: WalkRequest = { root: folder, ...(only === undefined ? {} : { only }) };
  const walked = await run.pool.run<WalkOutcome>("walk", request, "back", run.signal);
  if (!walked.ok) return walked;
  switch (walked.value.status) {
    case "walked":
      return ok(withoutHidden(splitPaths(walked.value.paths), folder, run.hidden));
    case "too-many":
      return fail("exhausted", `${folder} has more than ${FOLDER_LIMIT_FILES} files`, {
        hint: "index the folders in it that matter, or name the others in its .gitignore",
      });
    case "too-slow":
      return fail("exhausted", `${folder} has .gitignore files whose patterns take too long to match`, {
        hint: "make them simpler, or index the folders in it that matter",
      });
    case "failed":
      return fail("unavailable", `${folder} cannot be read: ${walked.value.reason}`, { hint: "check its permissions" });
  }
}

function withoutHidden(paths: readonly string[], folder: string, hidden: string): readonly string[] {
  if (prefixOf(folder).startsWith(prefixOf(hidden))) return [];
  if (!prefixOf(hidden).startsWith(prefixOf(folder))) return paths;
  const below = prefixOf(hidden).slice(prefixOf(folder).length);
  return paths.filter((path) => !path.startsWith(below));
}

/** Reads one batch and stages what is new in it. What stays in `known` at the end is not on disk any more. */
async function stageBatch(
  run: IndexRun,
  folder: string,
  batch: readonly string[],
  known: Map<string, Versions>,
  survey: Survey,
): Promise<Result<void>> {
  const files = batch.map((path) => ({ path, hashes: hashesOf(known.get(join(folder, path))) }));
  const request: ReadRequest = { root: folder, files };
  const outcomes = await run.pool.run<FileOutcome[]>("read", request, "back", run.signal);
  if (!outcomes.ok) return outcomes;
  const news: DocumentToStage[] = [];
  for (const [index, outcome] of outcomes.value.entries()) {
    const key = join(folder, batch[index] ?? "");
    const versions = known.get(key) ?? {};
    known.delete(key);
    const document = await settleFile(run, survey, key, versions, outcome);
    if (document !== undefined) news.push(document);
  }
  survey.files += outcomes.value.length;
  return stageNew(run, survey, news);
}

/** Gives what has to be staged of a file. */
async function settleFile(
  run: IndexRun,
  survey: Survey,
  key: string,
  versions: Versions,
  outcome: FileOutcome,
): Promise<DocumentToStage | undefined> {
  switch (outcome.status) {
    case "unchanged":
      keepVersion(survey, versions, outcome.hash);
      if (isTextless(key, versions, outcome.hash)) survey.errors += 1;
      return undefined;
    case "changed":
      keepVersion(survey, versions, outcome.hash);
      return fileDocument(survey.source, key, "file", outcome, outcome.pieces);
    case "pdf": {
      const pieces = await readPages(run, key);
      if (pieces === undefined) break;
      keepVersion(survey, versions, outcome.hash);
      if (pieces.length === 0) survey.errors += 1;
      return fileDocument(survey.source, key, "pdf", outcome, pieces);
    }
    case "skipped":
      survey.skipped += 1;
      dropVersions(survey, versions);
      return undefined;
    case "failed":
      break;
  }
  survey.errors += 1;
  dropVersions(survey, versions);
  return undefined;
}

/** A PDF of which it is known that there is no text to have. */
function isTextless(key: string, { live, staged }: Versions, hash: string): boolean {
  if (formOf(key) !== "pdf") return false;
  return [live, staged].some((version) => version?.hash === hash && version.pieces === 0);
}

/**
 * None for a PDF that has no text, is locked or broken: it is kept like that, so that it is not read again before it changes.
 * Undefined when another try may have more luck.
 */
async function readPages(run: IndexRun, key: string): Promise<readonly SourceChunk[] | undefined> {
  const read = await run.readPdf(key, run.signal);
  if (!read.ok) return read.failure.code === "invalid" || read.failure.code === "denied" ? [] : undefined;
  const request: PagesRequest = { key, pages: read.value.pages };
  const cut = await run.pool.run<readonly SourceChunk[]>("pages", request, "back", run.signal);
  return cut.ok ? cut.value : undefined;
}

function fileDocument(
  source: string,
  key: string,
  kind: "file" | "pdf",
  { hash, atMs }: { readonly hash: string; readonly atMs: number },
  pieces: readonly SourceChunk[],
): DocumentToStage {
  return { source, key, hash, kind, author: "file", sessionId: "", labels: [], atMs, pieces };
}
