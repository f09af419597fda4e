import { type Failure, ok, type Result } from "../domain/failure.ts";
import { reportSurvey } from "./folder-run.ts";
import type { IndexRun } from "./index-run.ts";
import type { DocumentFeed, FeedBatch } from "./source/document-feed.ts";
import type { DocumentToStage } from "./store/store.ts";
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

/** Forgets how far a conversation was read. */
const NOT_READ = -1;

/** Stages what a feed gives. A failure of the feed comes with what it gave before: that can be published, nothing removed. */
export async function stageFeed(
  run: IndexRun,
  feed: DocumentFeed,
): Promise<Result<{ readonly found: Survey; readonly failure?: Failure }>> {
  const givesAll = feed.gives === "all";
  const stored = givesAll ? await run.store.documentsOf({ kind: "source", source: feed.source }) : ok([]);
  if (!stored.ok) return stored;
  const room = await roomFor(run.store, stored.value);
  if (!room.ok) return room;
  const watermarks = givesAll ? ok(new Map<string, number>()) : await run.store.watermarks();
  if (!watermarks.ok) return watermarks;
  const { known, extra } = await groupVersions(stored.value);
  const found = emptySurvey(feed.source, givesAll);
  found.goneIds.push(...extra);
  /** Keys of a feed of everything, so that none is stored twice. */
  const given = new Set<string>();
  const context = { hashesOf: (key: string) => hashesOf(known.get(key)), watermarks: watermarks.value };
  for await (const batch of feed.batches(context, run.signal)) {
    if (run.signal.aborted) return stoppedAt(feed.source);
    if (!batch.ok) return ok({ found, failure: batch.failure });
    const staged = await stageFeedBatch(run, feed, known, given, found, batch.value);
    if (!staged.ok) return staged;
    if (found.chunks > room.value) return tooMuch(feed.source);
    reportSurvey(run, found);
  }
  // A feed that ends because it was told to stop has not said that the rest is gone.
  if (run.signal.aborted) return stoppedAt(feed.source);
  if (givesAll) for (const versions of known.values()) dropVersions(found, versions);
  return ok({ found });
}

async function stageFeedBatch(
  run: IndexRun,
  feed: DocumentFeed,
  known: Map<string, Versions>,
  given: Set<string>,
  found: Survey,
  batch: FeedBatch,
): Promise<Result<void>> {
  const gone = await dropSessions(run, feed, found, batch.goneSessionIds);
  if (!gone.ok) return gone;
  const versionsOf = await lookUp(run, feed, known, batch);
  if (!versionsOf.ok) return versionsOf;
  const news: DocumentToStage[] = [];
  for (const document of lastOfEach(batch.documents)) {
    if (given.has(document.key)) continue;
    if (feed.gives === "all") given.add(document.key);
    const versions = versionsOf.value.get(document.key) ?? {};
    known.delete(document.key);
    if (keepVersion(found, versions, document.hash)) news.push({ ...document, source: feed.source });
  }
  for (const { key, hash } of batch.same) {
    if (given.has(key)) continue;
    given.add(key);
    // What a run that was cut off had staged may be the version that is there now.
    keepVersion(found, known.get(key) ?? {}, hash);
    known.delete(key);
  }
  for (const [sessionId, seq] of batch.watermarks) found.watermarks.set(sessionId, seq);
  found.files += batch.documents.length + batch.same.length;
  found.skipped += batch.skipped;
  found.errors += batch.errors;
  found.total = batch.total;
  return stageNew(run, found, news);
}

/** A feed of changes is asked about batch by batch: all that there is may be a great deal. */
async function lookUp(
  run: IndexRun,
  feed: DocumentFeed,
  known: Map<string, Versions>,
  batch: FeedBatch,
): Promise<Result<ReadonlyMap<string, Versions>>> {
  if (feed.gives === "all" || batch.documents.length === 0) return ok(known);
  const keys = batch.documents.map(({ key }) => key);
  const stored = await run.store.documentsOf({ kind: "keys", source: feed.source, keys });
  return stored.ok ? ok((await groupVersions(stored.value)).known) : stored;
}

/** Of a key that is given twice in one batch, the later one counts. */
function lastOfEach(documents: readonly DocumentToStage[]): Iterable<DocumentToStage> {
  return new Map(documents.map((document) => [document.key, document])).values();
}

async function dropSessions(
  run: IndexRun,
  feed: DocumentFeed,
  found: Survey,
  sessionIds: readonly string[],
): Promise<Result<void>> {
  if (sessionIds.length === 0) return ok(undefined);
  const stored = await run.store.documentsOf({ kind: "sessions", source: feed.source, sessionIds });
  if (!stored.ok) return stored;
  const { known } = await groupVersions(stored.value);
  for (const versions of known.values()) dropVersions(found, versions);
  for (const sessionId of sessionIds) found.watermarks.set(sessionId, NOT_READ);
  return ok(undefined);
}
