import { statfs } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { DocumentToStage, Store, StoredDocument } from "./store/store.ts";

/** Over everything: segments lie in memory, some 400 bytes a piece. */
const STORE_LIMIT_PIECES = 500_000;

/** After so many the thread is free for others. */
const PAUSE_DOCUMENTS = 8_192;
const DISK_MARGIN_BYTES = 134_217_728;

/** What a run found out so far. */
export type Survey = {
  readonly source: string;
  /** Staged versions that will be searched. */
  readonly freshIds: number[];
  /** Versions that are in the way of what is there now. */
  readonly goneIds: number[];
  readonly watermarks: Map<string, number>;
  /** Files of a larger folder take their source from it. */
  adopted?: { readonly folder: string; readonly source: string };
  files: number;
  /** 0 for unknown. */
  total: number;
  chunks: number;
  skipped: number;
  errors: number;
  removed: number;
  /** Whether the figures stand for the whole source. */
  readonly counted: boolean;
};

export type Versions = { live?: StoredDocument; staged?: StoredDocument };

/** Versions by key. Of several staged ones of a key the last counts; the others are in `extra`. */
export async function groupVersions(documents: readonly StoredDocument[]): Promise<{
  readonly known: Map<string, Versions>;
  readonly extra: readonly number[];
}> {
  const known = new Map<string, Versions>();
  const extra: number[] = [];
  for (const [index, document] of documents.entries()) {
    if (index % PAUSE_DOCUMENTS === PAUSE_DOCUMENTS - 1) await setImmediate();
    const versions = known.get(document.key) ?? {};
    const before = document.staged ? versions.staged : versions.live;
    if (before !== undefined) extra.push(before.documentId);
    known.set(document.key, document.staged ? { ...versions, staged: document } : { ...versions, live: document });
  }
  return { known, extra };
}

export function hashesOf(versions: Versions | undefined): string[] {
  return [versions?.live?.hash, versions?.staged?.hash].filter((hash) => hash !== undefined);
}

export function emptySurvey(source: string, counted: boolean): Survey {
  return {
    ...{ source, freshIds: [], goneIds: [], watermarks: new Map(), counted },
    ...{ files: 0, total: 0, chunks: 0, skipped: 0, errors: 0, removed: 0 },
  };
}

/**
 * What came of one document: the version of this hash is kept, any other one goes. True when there is no such version, and
 * it has to be staged.
 */
export function keepVersion(survey: Survey, versions: Versions, hash: string): boolean {
  const { live, staged } = versions;
  const keptLive = live?.hash === hash;
  const keptStaged = !keptLive && staged?.hash === hash;
  if (live !== undefined && !keptLive) survey.goneIds.push(live.documentId);
  if (staged !== undefined && !keptStaged) survey.goneIds.push(staged.documentId);
  if (keptStaged) survey.freshIds.push(staged.documentId);
  survey.chunks += keptLive ? live.pieces : keptStaged ? staged.pieces : 0;
  return !keptLive && !keptStaged;
}

/** A document that is not there any more. */
export function dropVersions(survey: Survey, { live, staged }: Versions): void {
  if (live !== undefined) {
    survey.goneIds.push(live.documentId);
    survey.removed += 1;
  }
  if (staged !== undefined) survey.goneIds.push(staged.documentId);
}

/** What a run needs to know where it has to stop. */
export type RoomOf = { readonly store: Store; readonly storeLimitBytes: number };

export async function stageNew(
  run: RoomOf,
  survey: Survey,
  documents: readonly DocumentToStage[],
): Promise<Result<void>> {
  if (documents.length === 0) return ok(undefined);
  const room = await expectRoom(run);
  if (!room.ok) return room;
  const staged = await run.store.stage(documents);
  if (!staged.ok) return staged;
  survey.freshIds.push(...staged.value);
  survey.chunks += documents.reduce((sum, { pieces }) => sum + pieces.length, 0);
  return ok(undefined);
}

/** Stops at the limit, and before the disk is full: a database that has no room cannot even give room back. */
export async function expectRoom({ store, storeLimitBytes }: RoomOf): Promise<Result<void>> {
  const free = await store.freeBytes();
  if (!free.ok) return free;
  if (free.value < DISK_MARGIN_BYTES) {
    return fail(
      "exhausted",
      `memory leaves ${mebibytes(DISK_MARGIN_BYTES)} MiB of the disk to others, and only ${mebibytes(free.value)} MiB are free`,
      { hint: "free some space, then index again" },
    );
  }
  if (storeLimitBytes === 0) return ok(undefined);
  const used = await store.usedBytes();
  if (used < storeLimitBytes) return ok(undefined);
  return fail(
    "exhausted",
    `memory may take ${mebibytes(storeLimitBytes)} MiB of the disk, and takes ${mebibytes(used)} MiB already`,
    { hint: "set store_limit_mib under [memory] higher, or take folders out and rebuild it" },
  );
}

/** Whether so many bytes more can be written in this folder. */
export async function expectRoomFor(folder: string, bytes: number): Promise<Result<void>> {
  const { bavail, bsize } = await statfs(folder);
  const wanted = bytes + DISK_MARGIN_BYTES;
  if (bavail * bsize >= wanted) return ok(undefined);
  return fail(
    "exhausted",
    `the store is made anew beside the one there is, for which ${mebibytes(wanted)} MiB should be free, and ${mebibytes(bavail * bsize)} MiB are`,
    { hint: "free some space, then rebuild again; the store that was there stays" },
  );
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 1_048_576);
}

/** How many pieces a run over these documents may come to. */
export async function roomFor(store: Store, documents: readonly StoredDocument[]): Promise<Result<number>> {
  const counted = await store.counts();
  if (!counted.ok) return counted;
  const here = documents.reduce((sum, document) => sum + (document.staged ? 0 : document.pieces), 0);
  return ok(STORE_LIMIT_PIECES - (counted.value.pieces - here));
}

export function tooMuch(what: string): Result<never> {
  return fail("exhausted", `memory holds at most ${STORE_LIMIT_PIECES} pieces; ${what} does not fit`, {
    hint: "index less: a smaller folder, or fewer sources",
  });
}

export function stoppedAt(what: string): Result<never> {
  return fail("cancelled", `indexing ${what} was stopped`, { hint: "index it again to go on" });
}
