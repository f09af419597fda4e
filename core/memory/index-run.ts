import { realpath, stat } from "node:fs/promises";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import type { IndexProgress } from "../domain/memory.ts";
import { stageFeed } from "./feed-run.ts";
import { stageFolder } from "./folder-run.ts";
import type { DocumentFeed } from "./source/document-feed.ts";
import type { BuildSegmentFile, BuiltSegment, Store, StoredSegment } from "./store/store.ts";
import { emptySurvey, expectRoom, type Survey } from "./survey.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";

/** Text of a PDF, page by page. */
export type ReadPdf = (file: string, signal: AbortSignal) => Promise<Result<{ readonly pages: readonly string[] }>>;

export type IndexRun = {
  readonly store: Store;
  readonly pool: Pick<MemoryPool, "run">;
  readonly readPdf: ReadPdf;
  /** With so much on disk nothing is added; 0 for what the disk has room for. */
  readonly storeLimitBytes: number;
  readonly report: (progress: IndexProgress) => void;
  readonly signal: AbortSignal;
  /** Real path of a folder of which nothing is indexed. */
  readonly hidden: string;
  /** Called right before a publication: whoever must know of the source durably writes it down here. */
  readonly announce: () => Promise<Result<void>>;
  /** Called right after it, with what is searched from now on. */
  readonly published: (segments: readonly StoredSegment[]) => void;
};

/** What a run brings in line. */
export type RunTarget =
  /** A folder; `root` is the listed one that it is or lies in. */
  | { readonly kind: "folder"; readonly folder: string; readonly root: string; readonly exists: boolean }
  /** Only these files and folders of it: relative to it, those that are gone too. */
  | { readonly kind: "paths"; readonly folder: string; readonly paths: readonly string[] }
  | { readonly kind: "feed"; readonly feed: DocumentFeed }
  /** Documents that nobody wants any more. */
  | { readonly kind: "forget"; readonly source: string };

export type IndexOutcome = {
  readonly progress: IndexProgress;
  /** Could not be read, or not as text. */
  readonly errors: number;
  /** Whether anything that is searched is another now. */
  readonly changed: boolean;
};

/** Absolute real path of a folder; `path` unchanged when nothing is there, so that a vanished folder can be emptied. */
export async function resolveFolder(
  path: string,
): Promise<Result<{ readonly path: string; readonly exists: boolean }>> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return ok({ path: real, exists: true });
    return fail("invalid", `${path} is not a folder`, { hint: "index the folder that it lies in" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return ok({ path, exists: false });
    return fail("unavailable", `${path} cannot be opened: ${String(cause)}`, { hint: "check its permissions", cause });
  }
}

/** Segments are built in the line of those that nobody waits for. */
export function buildOver(pool: Pick<MemoryPool, "run">): BuildSegmentFile {
  return (request, signal) => pool.run<BuiltSegment>("buildFile", request, "back", signal);
}

/**
 * Brings the store in line with a source. Documents are staged batch by batch and become visible all at once at the end, so
 * an aborted or killed run changes no answer, and the next one goes on from what was staged. Runs never overlap. A feed that
 * fails leaves what it gave until then, and the run fails with its reason.
 */
export async function runIndex(run: IndexRun, target: RunTarget): Promise<Result<IndexOutcome>> {
  const outcome = await surveyAndPublish(run, target);
  // What does not fit shall not fill the disk for nothing. If even this fails, the first failure is the one to tell.
  if (!outcome.ok && outcome.failure.code === "exhausted") await run.store.dropStaged();
  return outcome;
}

async function surveyAndPublish(run: IndexRun, target: RunTarget): Promise<Result<IndexOutcome>> {
  const surveyed = await survey(run, target);
  if (!surveyed.ok) return surveyed;
  const { found, failure } = surveyed.value;
  const published = await publishSurvey(run, target, found);
  if (!published.ok) return published;
  return failure === undefined ? ok({ ...published.value, errors: found.errors }) : { ok: false, failure };
}

async function survey(
  run: IndexRun,
  target: RunTarget,
): Promise<Result<{ readonly found: Survey; readonly failure?: Failure }>> {
  switch (target.kind) {
    case "folder":
      return withoutFailure(await stageFolder(run, target));
    case "paths":
      return withoutFailure(await stageFolder(run, { ...target, root: target.folder, exists: true }));
    case "feed":
      return stageFeed(run, target.feed);
    case "forget":
      return withoutFailure(await forget(run, target.source));
  }
}

function withoutFailure(found: Result<Survey>): Result<{ readonly found: Survey }> {
  return found.ok ? ok({ found: found.value }) : found;
}

async function forget({ store }: IndexRun, source: string): Promise<Result<Survey>> {
  const stored = await store.documentsOf({ kind: "source", source });
  if (!stored.ok) return stored;
  const found = emptySurvey(source, false);
  for (const document of stored.value) {
    found.goneIds.push(document.documentId);
    if (!document.staged) found.removed += 1;
  }
  return ok(found);
}

async function publishSurvey(
  run: IndexRun,
  target: RunTarget,
  found: Survey,
): Promise<Result<Omit<IndexOutcome, "errors">>> {
  const { files, chunks, skipped, removed, errors } = found;
  const progress = { files, filesTotal: files, chunks, skipped, removed, done: true };
  const room = found.freshIds.length === 0 ? ok(undefined) : await expectRoom(run);
  if (!room.ok) return room;
  const announced = await run.announce();
  if (!announced.ok) return announced;
  const published = await run.store.publish({
    freshIds: found.freshIds,
    goneIds: found.goneIds,
    watermarks: found.watermarks,
    ...(found.adopted === undefined ? {} : { adopted: found.adopted }),
    ...(found.counted ? { figures: { source: found.source, skipped, removed, errors } } : {}),
    ...(target.kind === "forget" ? { forgotten: target.source } : {}),
    build: buildOver(run.pool),
    signal: run.signal,
  });
  if (!published.ok) return published;
  run.published(published.value);
  return ok({ progress, changed: found.freshIds.length + found.goneIds.length > 0 });
}
