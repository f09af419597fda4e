import { ok, type Result } from "../../domain/failure.ts";
import { type Journal, JournalError, RESERVED_JOURNALS } from "../../domain/journal.ts";

/** Conversations that are looked through, the latest changed first. */
const SESSIONS_LIMIT = 5_000;
/** Of all messages that are kept in memory; older conversations are left out beyond it. */
const KEPT_LIMIT_CHARS = 16_777_216;
const MESSAGE_LIMIT_CHARS = 8_192;
/** After so many characters others get a turn. */
const SLICE_CHARS = 1_048_576;

export type PastMessage = { readonly sessionId: string; readonly text: string; readonly atMs: number };
export type PastMatch = PastMessage & {
  /** Characters of the words that it has. */
  readonly score: number;
};

/** What the person said in earlier conversations, found by words alone: needs no index, no model and no network. */
export type PastMessages = {
  /**
   * The messages outside the given conversation that hold any of the words, in whatever case; best first, the newest of
   * equals first. `%` and `_` are characters like others.
   */
  find(words: string, exceptSession: string, limit: number, signal: AbortSignal): Promise<Result<readonly PastMatch[]>>;
};

type Kept = { lastSeq: number; chars: number; readonly messages: PastMessage[] };

/** Reads each journal once, and later only what it has grown by. */
export function pastMessages(journal: Journal): PastMessages {
  let kept = new Map<string, Kept>();
  let queue: Promise<unknown> = Promise.resolve();

  function catchUp(signal: AbortSignal): Promise<void> {
    const turn = queue.then(() => readNews(signal));
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function readNews(signal: AbortSignal): Promise<void> {
    const now = new Map<string, Kept>();
    let chars = 0;
    for await (const { sessionId, seq } of journal.heads()) {
      if (signal.aborted || now.size >= SESSIONS_LIMIT || chars > KEPT_LIMIT_CHARS) break;
      if (RESERVED_JOURNALS.has(sessionId)) continue;
      const known = kept.get(sessionId) ?? { lastSeq: 0, chars: 0, messages: [] };
      if (known.lastSeq < seq) await readMessages(journal, sessionId, known, signal);
      now.set(sessionId, known);
      chars += known.chars;
    }
    if (!signal.aborted) kept = now;
  }

  return {
    async find(words, exceptSession, limit, signal) {
      const keys = [...new Set(words.toLowerCase().split(/\s+/).filter(Boolean))];
      if (keys.length === 0) return ok([]);
      await catchUp(signal);
      const found: PastMatch[] = [];
      let looked = 0;
      for (const [sessionId, { messages }] of kept) {
        if (sessionId === exceptSession) continue;
        for (const message of messages) {
          const text = message.text.toLowerCase();
          const score = keys.reduce((sum, key) => sum + (text.includes(key) ? key.length : 0), 0);
          if (score > 0) found.push({ ...message, score });
          looked += text.length;
          if (looked < SLICE_CHARS) continue;
          looked = 0;
          await new Promise(setImmediate);
        }
      }
      return ok(found.sort((a, b) => b.score - a.score || b.atMs - a.atMs).slice(0, limit));
    },
  };
}

async function readMessages(journal: Journal, sessionId: string, known: Kept, signal: AbortSignal): Promise<void> {
  try {
    for await (const { seq, atMs, body } of journal.read(sessionId, { after: known.lastSeq, follow: false }, signal)) {
      known.lastSeq = seq;
      if (body.case !== "userSpoke") continue;
      const text = body.value.text.slice(0, MESSAGE_LIMIT_CHARS);
      known.messages.push({ sessionId, text, atMs });
      known.chars += text.length;
    }
  } catch (cause) {
    // A broken journal keeps its own words from being found, and nobody else's.
    if (!(cause instanceof JournalError)) throw cause;
  }
}
