import { realpath, stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { IndexProgress } from "../domain/memory.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";
import { openSegment, type SegmentDocument } from "./lexical/segment.ts";
import { type FileOutcome, FOLDER_LIMIT_FILES, splitPaths } from "./source/source-files.ts";
import type { FileToStage, Store, StoredFile, StoredSegment } from "./store/store.ts";

const BATCH_FILES = 64;
/** Over all folders: the segments live in memory, about a kilobyte a chunk. */
const STORE_LIMIT_CHUNKS = 500_000;
/** A segment is built from this many chunks, and merged with its neighbours when it has less than half of them. */
const SEGMENT_GOAL_CHUNKS = 2_048;

export type IndexRun = {
  readonly store: Store;
  readonly pool: MemoryPool;
  readonly report: (progress: IndexProgress) => void;
  readonly signal: AbortSignal;
  /** What is searched now. */
  readonly segments: readonly StoredSegment[];
  /** Real path of a folder of which nothing is indexed. */
  readonly hidden: string;
  /** Called right before a publication: whoever must know of the folder durably writes it down here. */
  readonly announce: () => Promise<Result<void>>;
};

export type IndexOutcome = { readonly segments: readonly StoredSegment[]; readonly progress: IndexProgress };

type Versions = { live?: StoredFile; staged?: StoredFile };

/** What the run found out so far. */
type Survey = {
  /** Versions that are in the way of what is on disk now. */
  readonly goneFileIds: number[];
  readonly staleStagedIds: number[];
  files: number;
  chunks: number;
  skipped: number;
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

export function prefixOf(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

/**
 * Brings the store in line with a folder and gives the segments to search from now on. Files are staged batch by batch and
 * become visible all at once at the end, so an aborted or killed run changes no answer, and the next one goes on from what was staged.
 */
export async function runIndex(run: IndexRun, folder: string, exists: boolean): Promise<Result<IndexOutcome>> {
  const prefix = prefixOf(folder);
  const walked = exists ? await walk(run, folder) : ok([]);
  if (!walked.ok) return walked;
  const surveyed = await stageFolder(run, folder, walked.value);
  if (!surveyed.ok) return surveyed;
  const segments = await publishFolder(run, prefix, surveyed.value);
  if (!segments.ok) return segments;
  const { files, chunks, skipped } = surveyed.value;
  return ok({ segments: segments.value, progress: { files, filesTotal: files, chunks, skipped, done: true } });
}

async function walk(run: IndexRun, folder: string): Promise<Result<string[]>> {
  const walked = await run.pool.walk(folder, run.signal);
  if (!walked.ok) return walked;
  switch (walked.value.status) {
    case "walked":
      return ok(
        splitPaths(walked.value.paths).filter((path) => !`${prefixOf(folder)}${path}`.startsWith(prefixOf(run.hidden))),
      );
    case "too-many":
      return fail("exhausted", `${folder} has more than ${FOLDER_LIMIT_FILES} files`, {
        hint: "index the folders in it that matter, or name the others in its .gitignore",
      });
    case "failed":
      return fail("unavailable", `${folder} cannot be read: ${walked.value.reason}`, { hint: "check its permissions" });
  }
}

async function stageFolder(run: IndexRun, folder: string, paths: readonly string[]): Promise<Result<Survey>> {
  const prefix = prefixOf(folder);
  const stored = await run.store.files(prefix);
  if (!stored.ok) return stored;
  const counted = await run.store.counts();
  if (!counted.ok) return counted;
  const known = groupVersions(stored.value);
  const liveHere = stored.value.reduce((sum, file) => sum + (file.staged ? 0 : file.chunks), 0);
  const roomChunks = STORE_LIMIT_CHUNKS - (counted.value.chunks - liveHere);
  const survey: Survey = { goneFileIds: [], staleStagedIds: [], files: 0, chunks: 0, skipped: 0 };
  while (survey.files < paths.length) {
    const batch = paths.slice(survey.files, survey.files + BATCH_FILES);
    const staged = await stageBatch(run, folder, batch, known, survey);
    if (!staged.ok) return staged;
    if (survey.chunks > roomChunks) {
      return fail("exhausted", `memory holds at most ${STORE_LIMIT_CHUNKS} chunks; ${folder} does not fit`, {
        hint: "index a smaller folder",
      });
    }
    run.report({
      files: survey.files,
      filesTotal: paths.length,
      chunks: survey.chunks,
      skipped: survey.skipped,
      done: false,
    });
    if (run.signal.aborted)
      return fail("cancelled", `indexing ${folder} was stopped`, { hint: "index it again to go on" });
  }
  for (const versions of known.values()) dropVersions(versions, survey);
  return ok(survey);
}

function groupVersions(files: readonly StoredFile[]): Map<string, Versions> {
  const known = new Map<string, Versions>();
  for (const file of files) {
    const versions = known.get(file.path) ?? {};
    known.set(file.path, file.staged ? { ...versions, staged: file } : { ...versions, live: file });
  }
  return known;
}

/** Reads one batch and stages what is new in it. What stays in `known` at the end is not on disk any more. */
async function stageBatch(
  run: IndexRun,
  folder: string,
  batch: readonly string[],
  known: Map<string, Versions>,
  survey: Survey,
): Promise<Result<void>> {
  const files = batch.map((path) => ({ path, hashes: hashesOf(known.get(prefixOf(folder) + path)) }));
  const outcomes = await run.pool.read({ root: folder, files }, run.signal);
  if (!outcomes.ok) return outcomes;
  const news: FileToStage[] = [];
  for (const [index, outcome] of outcomes.value.entries()) {
    const path = prefixOf(folder) + (batch[index] ?? "");
    const versions = known.get(path) ?? {};
    known.delete(path);
    settleFile(outcome, path, versions, survey, news);
  }
  survey.files += outcomes.value.length;
  const replaced = survey.staleStagedIds.splice(0);
  return news.length + replaced.length === 0 ? ok(undefined) : run.store.stage(news, replaced);
}

function hashesOf(versions: Versions | undefined): string[] {
  return [versions?.live?.hash, versions?.staged?.hash].filter((hash) => hash !== undefined);
}

function settleFile(outcome: FileOutcome, path: string, versions: Versions, survey: Survey, news: FileToStage[]): void {
  const { live, staged } = versions;
  switch (outcome.status) {
    case "skipped":
      survey.skipped += 1;
      dropVersions(versions, survey);
      return;
    case "changed":
      dropVersions(versions, survey);
      news.push({ path, hash: outcome.hash, chunks: outcome.chunks });
      survey.chunks += outcome.chunks.length;
      return;
    case "unchanged": {
      const isLive = live?.hash === outcome.hash;
      const kept = isLive ? live : staged;
      dropVersions(isLive ? { ...(staged && { staged }) } : { ...(live && { live }) }, survey);
      survey.chunks += kept?.chunks ?? 0;
      return;
    }
  }
}

function dropVersions({ live, staged }: Versions, survey: Survey): void {
  if (live !== undefined) survey.goneFileIds.push(live.fileId);
  if (staged !== undefined) survey.staleStagedIds.push(staged.fileId);
}

async function publishFolder(run: IndexRun, prefix: string, survey: Survey): Promise<Result<readonly StoredSegment[]>> {
  const { store } = run;
  const dropped = survey.staleStagedIds.length === 0 ? ok(undefined) : await store.stage([], survey.staleStagedIds);
  if (!dropped.ok) return dropped;
  const gone = await store.chunkIds(survey.goneFileIds);
  if (!gone.ok) return gone;
  const staged = await store.stagedChunkIds(prefix);
  if (!staged.ok) return staged;
  const plan = await planSegments(run.segments, gone.value, staged.value);
  const built = await buildSegments(run, plan.chunkIds);
  if (!built.ok) return built;
  const announced = await run.announce();
  if (!announced.ok) return announced;
  const staleSegmentIds = plan.stale.map((segment) => segment.segmentId);
  const added = await store.publish({
    prefix,
    goneFileIds: survey.goneFileIds,
    staleSegmentIds,
    newSegments: built.value,
  });
  return added.ok ? ok([...plan.kept, ...added.value]) : added;
}

type SegmentPlan = {
  readonly kept: readonly StoredSegment[];
  readonly stale: readonly StoredSegment[];
  /** Chunks to build new segments from. */
  readonly chunkIds: readonly number[];
};

/** Only segments that lose a chunk are built anew, and small ones together with whatever is built anyway. */
async function planSegments(
  segments: readonly StoredSegment[],
  gone: ReadonlySet<number>,
  staged: ReadonlySet<number>,
): Promise<SegmentPlan> {
  // A chunk on both sides stands unchanged in a changed file.
  const dead = new Set([...gone].filter((id) => !staged.has(id)));
  const wanted = new Set([...staged].filter((id) => !gone.has(id)));
  const touched: StoredSegment[] = [];
  const small: StoredSegment[] = [];
  const large: StoredSegment[] = [];
  for (const segment of segments) {
    const ids = openSegment(segment.buffer)?.ids ?? new Float64Array();
    if (ids.some((id) => dead.has(id))) touched.push(segment);
    else if (ids.length < SEGMENT_GOAL_CHUNKS / 2) small.push(segment);
    else large.push(segment);
    await setImmediate();
  }
  const idle = touched.length === 0 && wanted.size === 0;
  const stale = idle ? [] : [...touched, ...small];
  for (const segment of stale) {
    for (const id of openSegment(segment.buffer)?.ids ?? []) if (!dead.has(id)) wanted.add(id);
  }
  return { kept: idle ? [...large, ...small] : large, stale, chunkIds: [...wanted] };
}

async function buildSegments(run: IndexRun, chunkIds: readonly number[]): Promise<Result<SharedArrayBuffer[]>> {
  const built: SharedArrayBuffer[] = [];
  for (let start = 0; start < chunkIds.length; start += SEGMENT_GOAL_CHUNKS) {
    const documents = await run.store.documents(chunkIds.slice(start, start + SEGMENT_GOAL_CHUNKS));
    if (!documents.ok) return documents;
    const segment = await buildSegment(run, documents.value);
    if (!segment.ok) return segment;
    built.push(segment.value);
  }
  return ok(built);
}

function buildSegment(run: IndexRun, documents: readonly SegmentDocument[]): Promise<Result<SharedArrayBuffer>> {
  if (run.signal.aborted)
    return Promise.resolve(fail("cancelled", "indexing was stopped", { hint: "index again to go on" }));
  return run.pool.build(documents);
}
