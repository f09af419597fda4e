import type { Event } from "../../domain/event.ts";
import { type Failed, fail, ok, type Result } from "../../domain/failure.ts";
import { type Journal, JournalError, RESERVED_JOURNALS } from "../../domain/journal.ts";
import { type DocumentFeed, EMPTY_BATCH, type FeedBatch } from "./document-feed.ts";
import { hashOf, type ReadDocument } from "./source-chunk.ts";
import type { CutTexts } from "./text-cutting.ts";

/** Name of the source of all conversations. */
export const CONVERSATIONS = "conversations";
/** Of one message; what is behind it is not searched. */
const MESSAGE_LIMIT_CHARS = 1_048_576;
const BATCH_LIMIT_MESSAGES = 64;
const BATCH_LIMIT_CHARS = 1_048_576;
/** How many events of other kinds are passed before a batch says how far it came. */
const BATCH_LIMIT_EVENTS = 10_000;

type Message = {
  readonly sessionId: string;
  readonly seq: number;
  readonly author: "owner" | "agent";
  readonly atMs: number;
  readonly title: string;
  readonly text: string;
};

type OpenBatch = {
  readonly messages: Message[];
  readonly gone: string[];
  readonly watermarks: Map<string, number>;
  chars: number;
  events: number;
  errors: number;
};

/**
 * What people and the model said: the words, and nothing of tools, thoughts or hooks. Reads on from where it was; a journal that
 * cannot be read counts as an error and takes nothing away, one that is gone takes its messages with it.
 */
export function conversationFeed(journal: Journal, cut: CutTexts): DocumentFeed {
  return {
    source: CONVERSATIONS,
    gives: "changes",
    async *batches({ watermarks }, signal) {
      let open = openBatch();
      const missing = new Set([...watermarks].filter(([, seq]) => seq >= 0).map(([sessionId]) => sessionId));
      try {
        for await (const { sessionId, seq } of journal.heads()) {
          if (signal.aborted) return;
          if (RESERVED_JOURNALS.has(sessionId)) continue;
          const known = Math.max(0, watermarks.get(sessionId) ?? 0);
          // Shorter than it was: another conversation of the same name. It is read when the old one was taken away.
          if (seq < known) continue;
          missing.delete(sessionId);
          if (seq === known) continue;
          for await (const full of readInto(journal, sessionId, known, () => open, signal)) {
            const batch = await closeBatch(full, cut, signal);
            yield batch;
            if (!batch.ok) return;
            open = openBatch();
          }
        }
      } catch (cause) {
        yield unreadable(cause);
        return;
      }
      if (signal.aborted) return;
      open.gone.push(...missing);
      if (open.watermarks.size + open.gone.length + open.errors > 0) yield await closeBatch(open, cut, signal);
    },
  };
}

function openBatch(): OpenBatch {
  return { messages: [], gone: [], watermarks: new Map(), chars: 0, events: 0, errors: 0 };
}

/** Adds what is new in a session to the open batch; yields that when it is full, and expects a fresh one from then on. */
async function* readInto(
  journal: Journal,
  sessionId: string,
  after: number,
  current: () => OpenBatch,
  signal: AbortSignal,
): AsyncGenerator<OpenBatch> {
  try {
    const sessionTitle = await readTitle(journal, sessionId, signal);
    for await (const event of journal.read(sessionId, { after, follow: false }, signal)) {
      const open = current();
      const said = wordsOf(event);
      if (said !== undefined) {
        const message = { ...said, ...{ sessionId, seq: event.seq, atMs: event.atMs } };
        open.messages.push({ ...message, title: titleOf(said.author, event.atMs, sessionTitle) });
        open.chars += said.text.length;
      }
      open.events += 1;
      open.watermarks.set(sessionId, event.seq);
      const full = open.messages.length >= BATCH_LIMIT_MESSAGES || open.chars >= BATCH_LIMIT_CHARS;
      if (full || open.events >= BATCH_LIMIT_EVENTS) yield open;
    }
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
    current().errors += 1;
  }
}

/** The title that somebody gave it; what a session is called by its first words would only say them twice. */
async function readTitle(journal: Journal, sessionId: string, signal: AbortSignal): Promise<string> {
  for await (const { body } of journal.read(sessionId, { after: 0, follow: false }, signal))
    return body.case === "sessionOpened" ? body.value.title : "";
  return "";
}

function wordsOf({ body }: Event): { readonly author: "owner" | "agent"; readonly text: string } | undefined {
  if (body.case === "userSpoke") return words("owner", body.value.text);
  if (body.case !== "blockEnded" || body.value.content?.kind.case !== "text") return undefined;
  return words("agent", body.value.content.kind.value.text);
}

function words(author: "owner" | "agent", text: string) {
  return text.trim() === "" ? undefined : { author, text: text.slice(0, MESSAGE_LIMIT_CHARS) };
}

/** Who spoke and when, in words that a question may use: "what did I say in May". */
function titleOf(author: "owner" | "agent", atMs: number, sessionTitle: string): string {
  const day = new Date(atMs);
  const month = MONTHS[day.getUTCMonth()] ?? "";
  const who = author === "owner" ? "user" : "assistant";
  const spoken = `${who}, ${day.getUTCDate()} ${month} ${day.getUTCFullYear()}`;
  return sessionTitle === "" ? spoken : `${spoken}, ${sessionTitle}`;
}

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

async function closeBatch(open: OpenBatch, cut: CutTexts, signal: AbortSignal): Promise<Result<FeedBatch>> {
  const texts = open.messages.map((message) => ({ ...message, key: keyOf(message) }));
  const pieces =
    texts.length === 0
      ? ok([])
      : await cut(
          texts.map(({ key, title, text }) => ({ key, title, text })),
          signal,
        );
  if (!pieces.ok) return pieces;
  const documents = texts.map(
    ({ key, sessionId, author, atMs, title, text }, index): ReadDocument => ({
      ...{ source: CONVERSATIONS, key, kind: "conversation", author, sessionId, labels: [], atMs },
      hash: hashOf(`${title}\0${text}`),
      pieces: pieces.value[index] ?? [],
    }),
  );
  const { errors, gone, watermarks } = open;
  return ok({ ...EMPTY_BATCH, documents, errors, goneSessionIds: gone, watermarks });
}

function keyOf({ sessionId, seq }: Message): string {
  return `${sessionId}/${seq}`;
}

function unreadable(cause: unknown): Failed {
  return fail("unavailable", `the conversations cannot be read: ${String(cause)}`, {
    hint: "check the data folder's owner, then index again",
    cause,
  });
}
