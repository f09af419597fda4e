import { statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { Event, EventBody } from "../domain/event.ts";
import { type Failure, fail, ok, type Result } from "../domain/failure.ts";
import { appendQueue, type Group } from "./append-queue.ts";
import { type Position, START } from "./chain-reader.ts";
import { commit } from "./commit.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { type Feed, type FeedEnd, type FeedSource, feed } from "./feed.ts";
import type { HandleHolder, HandleLimit } from "./handle-limit.ts";
import {
  changedByHand,
  corrupt,
  diskFault,
  errorCode,
  journalClosed,
  missing,
  missingFolder,
} from "./journal-fault.ts";
import { type Extent, recoverTail } from "./tail-recovery.ts";
import { turnQueue } from "./turn-queue.ts";

/** One session's file: its single way to the disk, and the feeds of those who follow it. */
export type JournalFile = HandleHolder & {
  readonly path: string;
  create(): Promise<Result<void>>;
  append(expectedSeq: number, bodies: readonly EventBody[]): Promise<Result<readonly Event[]>>;
  remove(): Promise<Result<void>>;
  /** How far the file can be read. The first look at a file recovers it; `not_found` when there is none. */
  extent(): Promise<Result<Extent>>;
  /** Bytes that are durable; 0 when the file is missing or was never looked at. */
  durableBytes(): number;
  /** How much of a file with this inode and size may be shown: all of it, unless a commit is under way or failed. */
  shownBytes(inode: number, sizeBytes: number): number;
  /** The live end; dispose of it to stop following. */
  subscribe(): Feed & Disposable;
  /** True when forgetting this object would lose nothing. */
  isIdle(): boolean;
  /** Finishes what is under way, ends the feeds and refuses everything afterwards. */
  close(): Promise<void>;
};

/** Opens nothing: the file is looked at when it is first asked for. */
export function journalFile(
  sessionId: string,
  path: string,
  disk: Disk,
  now: () => number,
  handles: HandleLimit,
): JournalFile {
  const turns = turnQueue();
  const queue = appendQueue(sessionId, now);
  const feeds = new Set<FeedSource>();
  /** What is durable; undefined until the file was looked at, and again when it turned out to be another one. */
  let known: { readonly end: Position; readonly inode: number } | undefined;
  let handle: DiskFile | undefined;
  let isCommitPlanned = false;
  /** Why nothing can be appended as long as this file lives: its disk failed. */
  let broken: Failure | undefined;
  let isClosed = false;

  function learn(end: Position, inode: number): void {
    known = { end, inode };
    queue.restart(end, changedByHand(path));
  }

  async function letHandleGo(): Promise<void> {
    const open = handle;
    handle = undefined;
    handles.closed(self);
    // Everything in it is synced or given up: there is nothing that a failed close could lose.
    await open?.close().catch(() => {});
  }

  async function forget(end: FeedEnd): Promise<void> {
    known = undefined;
    broken = undefined;
    for (const one of feeds) one.finish(end);
    await letHandleGo();
  }

  async function openHandle(): Promise<DiskFile> {
    handle ??= await disk.open(path, "existing");
    handles.used(self);
    return handle;
  }

  /**
   * People copy, replace and delete journals by hand: is this still the file that we know? If not, it is forgotten.
   * Done at once, without the thread pool, because every commit asks; the name is in the kernel's cache.
   */
  async function checkKnown(): Promise<Failure | undefined> {
    if (known === undefined) return undefined;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.ino === known.inode && (found.size === known.end.offset || broken !== undefined)) return undefined;
    const failure = found === undefined ? missing(path) : changedByHand(path);
    await forget(found === undefined ? { reason: "removed" } : { reason: "failed", failure });
    return failure;
  }

  async function look(): Promise<Result<Extent>> {
    if (isClosed) return { ok: false, failure: journalClosed(path) };
    try {
      await checkKnown();
      if (known !== undefined) return ok({ end: known.end, flaw: undefined });
      const file = await openHandle();
      const extent = await recoverTail(file, path);
      if (extent.flaw === undefined) learn(extent.end, file.inode);
      // A broken file is looked at anew each time: someone may put a good copy in its place.
      else await letHandleGo();
      return ok(extent);
    } catch (cause) {
      await letHandleGo();
      return { ok: false, failure: diskFault("open", path, cause) };
    }
  }

  async function append(expectedSeq: number, bodies: readonly EventBody[]): Promise<Result<readonly Event[]>> {
    if (known === undefined) {
      const extent = await turns.take(look);
      if (!extent.ok) return extent;
      if (extent.value.flaw !== undefined) return { ok: false, failure: corrupt(path, extent.value.flaw) };
    }
    const refusal = isClosed ? journalClosed(path) : broken;
    return refusal === undefined ? queue.add(expectedSeq, bodies, planCommit) : { ok: false, failure: refusal };
  }

  function planCommit(): void {
    if (isCommitPlanned) return;
    isCommitPlanned = true;
    void turns.take(commitWaiting);
  }

  /** One write and one sync for all who wait. */
  async function commitWaiting(): Promise<void> {
    // All who heard of the last commit get the chance to join this one.
    await new Promise((resolve) => setImmediate(resolve));
    isCommitPlanned = false;
    const group = queue.take();
    if (group === undefined) return;
    const failure = await commitGroup(group);
    if (failure === undefined) return;
    group.fail(failure);
    // Those who came meanwhile built on lines that are not there.
    queue.restart(known?.end ?? START, failure);
  }

  async function commitGroup(group: Group): Promise<Failure | undefined> {
    let file: DiskFile;
    try {
      const refusal = (await checkKnown()) ?? broken;
      if (refusal !== undefined) return refusal;
      file = await openHandle();
    } catch (cause) {
      return diskFault("open", path, cause);
    }
    if (known === undefined) return missing(path);
    const before = known.end;
    // The file may have been removed and made again since these lines were encoded.
    if (group.hashBefore !== before.hash) return changedByHand(path);
    const done = await commit(file, path, before.offset, group.bytes);
    if (done.status === "broken") await breakDown(done.failure);
    if (done.status !== "durable") return done.failure;
    const { events, hashAfter: hash } = group;
    const after = { offset: before.offset + group.bytes.length, seq: before.seq + events.length, hash };
    known = { end: after, inode: known.inode };
    for (const one of feeds) one.offer({ before, after, events });
    group.succeed();
    return undefined;
  }

  async function breakDown(failure: Failure): Promise<void> {
    broken = failure;
    for (const one of feeds) one.finish({ reason: "failed", failure });
    await letHandleGo();
  }

  async function create(): Promise<Result<void>> {
    if (isClosed) return { ok: false, failure: journalClosed(path) };
    try {
      const file = await disk.open(path, "create");
      // A journal of this name that we knew was deleted by hand.
      if (known !== undefined) await forget({ reason: "removed" });
      handle = file;
      await disk.syncFolder(dirname(path));
      learn(START, file.inode);
      handles.used(self);
      return ok(undefined);
    } catch (cause) {
      if (errorCode(cause) === "EEXIST") {
        const hint = "append to it, or choose another id";
        return fail("conflict", `there is already a journal ${path}`, { hint, cause });
      }
      if (handle !== undefined && known === undefined) await unlink(path).catch(() => {});
      await letHandleGo();
      if (errorCode(cause) === "ENOENT") return { ok: false, failure: missingFolder(dirname(path)) };
      return { ok: false, failure: diskFault("create", path, cause) };
    }
  }

  async function remove(): Promise<Result<void>> {
    if (isClosed) return { ok: false, failure: journalClosed(path) };
    try {
      await unlink(path);
      await forget({ reason: "removed" });
      await disk.syncFolder(dirname(path));
      return ok(undefined);
    } catch (cause) {
      if (errorCode(cause) === "ENOENT") await forget({ reason: "removed" });
      return { ok: false, failure: diskFault("remove", path, cause) };
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    queue.restart(START, journalClosed(path));
    await forget({ reason: "removed" });
  }

  const self: JournalFile = {
    path,
    append,
    create: () => turns.take(create),
    remove: () => turns.take(remove),
    extent: () => turns.take(look),
    close: () => turns.take(close),
    durableBytes: () => known?.end.offset ?? 0,
    shownBytes(inode, sizeBytes) {
      const isUnsettled = turns.isBusy() || broken !== undefined;
      return known?.inode === inode && isUnsettled ? known.end.offset : sizeBytes;
    },
    subscribe() {
      const one = feed(() => feeds.delete(one));
      feeds.add(one);
      if (broken !== undefined) one.finish({ reason: "failed", failure: broken });
      if (isClosed) one.finish({ reason: "removed" });
      return one;
    },
    isIdle: () => !turns.isBusy() && feeds.size === 0 && broken === undefined,
    rest() {
      if (turns.isBusy()) return false;
      void turns.take(letHandleGo);
      return true;
    },
  };
  return self;
}
