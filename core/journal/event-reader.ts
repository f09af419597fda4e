import type { Event } from "../domain/event.ts";
import { JournalError } from "../domain/journal.ts";
import { type Position, readChain, START } from "./chain-reader.ts";
import type { Feed } from "./feed.ts";
import { corrupt, diskFault, errorCode, unreadable } from "./journal-fault.ts";
import type { JournalFile } from "./journal-file.ts";
import { decodeLine } from "./line-codec.ts";

/** The events after a number as far as they are durable now, and nothing more. Failures throw `JournalError`. */
export async function* readStored(file: JournalFile, after: number, signal: AbortSignal): AsyncGenerator<Event, void> {
  if (!signal.aborted) yield* catchUp(file, START, after, signal);
}

/**
 * The events after a number, and then each new one when it is durable. Ends when the signal aborts or the journal is
 * removed; a journal that is not there yet is waited for. Every follower goes at its own speed: one that is behind
 * reads the file, so nothing is kept for it.
 */
export async function* follow(file: JournalFile, after: number, signal: AbortSignal): AsyncGenerator<Event, void> {
  using feed = file.subscribe();
  let at = START;
  while (!signal.aborted) {
    try {
      at = yield* catchUp(file, at, after, signal);
    } catch (error) {
      // Reading on in a file that was removed, and perhaps made anew, finds strange things: that is no flaw.
      if (feed.end()?.reason === "removed") return;
      throw error;
    }
    // Nothing runs between this look and `goLive`, so no batch falls between the file and the feed.
    if (at.offset === file.durableBytes()) {
      feed.goLive();
      at = yield* live(feed, at, after, signal);
    }
    const end = feed.end();
    if (end?.reason === "removed") return;
    // What was durable before the disk failed can still be read, and is, before the failure is told.
    if (end !== undefined && at.offset >= file.durableBytes()) throw new JournalError(end.failure);
  }
}

/** Yields what the feed brings, until it ends, the signal aborts, or the follower has fallen behind. */
async function* live(feed: Feed, from: Position, after: number, signal: AbortSignal): AsyncGenerator<Event, Position> {
  let at = from;
  while (!signal.aborted) {
    const batch = feed.take();
    if (batch !== undefined) {
      // The file was put there by hand while nobody read it: what lies before the batch is in the file only.
      if (batch.before.offset !== at.offset) return at;
      for (const event of batch.events) {
        if (event.seq <= after) continue;
        yield event;
        if (signal.aborted) return at;
      }
      at = batch.after;
    } else if (feed.missedSome() || feed.end() !== undefined) return at;
    else await feed.news(signal);
  }
  return at;
}

async function* catchUp(
  file: JournalFile,
  from: Position,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Event, Position> {
  const extent = await file.extent();
  if (!extent.ok) {
    if (extent.failure.code === "not_found") return from;
    throw new JournalError(extent.failure);
  }
  const { end, flaw } = extent.value;
  let at = from;
  try {
    for await (const part of readChain(file.path, from, end.offset)) {
      if (signal.aborted) return at;
      if (part.kind === "flaw") throw new JournalError(corrupt(file.path, part.flaw));
      if (part.after.seq > after) yield decode(file.path, part.bytes, part.after.seq);
      at = part.after;
    }
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    if (errorCode(cause) === "ENOENT") return at;
    throw new JournalError(diskFault("read", file.path, cause));
  }
  if (flaw !== undefined && !signal.aborted) throw new JournalError(corrupt(file.path, flaw));
  return at;
}

function decode(path: string, line: Buffer, seq: number): Event {
  try {
    return decodeLine(line);
  } catch (cause) {
    throw new JournalError(unreadable(path, seq, cause));
  }
}
