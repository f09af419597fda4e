import { setTimeout as pause } from "node:timers/promises";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { type Journal, JournalError } from "../../domain/journal.ts";
import { EMPTY_PROFILE, type HeardMessage, type TurnProfile } from "../../domain/profile.ts";
import type { Prompt, Provider, ProviderCatalog } from "../../domain/provider.ts";
import { unlessAborted } from "../../domain/unless-aborted.ts";
import { isTooLong, lessonPrompt, readLesson } from "./lesson.ts";
import type { ProfileBook, ProfileMoment } from "./profile-book.ts";

/** How long a model may think about what there is to learn, milliseconds. */
const LESSON_LIMIT_MS = 60_000;
const REPLY_LIMIT_CHARS = 32_768;

export type ProfileLearnerParts = {
  readonly book: ProfileBook;
  /** Of conversations, to read again what was said. */
  readonly journal: Journal;
  readonly providers: ProviderCatalog;
  /** After how many messages there is something to learn. */
  readonly cadence: number;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
  readonly complain: (cause: unknown) => void;
};

export type ProfileLearner = TurnProfile & {
  /** Resolves when the lesson is over, if there is one; no turn waits for that. */
  turnDone(model: string): Promise<void>;
  /** Learns nothing more; waits so long at most for what is being learned. */
  close(limitMs: number): Promise<void>;
};

/** Learns beside the conversations, one lesson at a time. Nothing waits for it, and its failures are lines in the log. */
export function profileLearner(parts: ProfileLearnerParts): ProfileLearner {
  const { book, cadence, log, complain } = parts;
  const stop = new AbortController();
  let isClosing = false;
  let learning: Promise<void> | undefined;
  /** How much had been heard at the last try, and the version that was to be made shorter: what failed is not tried at every turn. */
  let triedHeard = 0;
  let triedVersion = 0;
  let removals = 0;

  async function learn(model: string): Promise<Result<void>> {
    const read = await book.moment();
    if (!read.ok) return read;
    const { latest, heard, learned } = read.value;
    // The profile was deleted: counting begins anew.
    if (removals !== read.value.removals) [triedHeard, triedVersion, removals] = [0, 0, read.value.removals];
    const isDue = heard - Math.max(learned, triedHeard) >= cadence;
    const isLong = latest !== undefined && isTooLong(latest.profile) && latest.number !== triedVersion;
    if (!isDue && !isLong) return ok(undefined);
    triedHeard = heard;
    triedVersion = latest?.number ?? 0;
    return takeLesson(parts, read.value, model, AbortSignal.any([stop.signal, AbortSignal.timeout(LESSON_LIMIT_MS)]));
  }

  return {
    text: () => book.text(),
    heard(message) {
      void book.heard(message).then((written) => {
        if (!written.ok) log(`profile: a message is not counted: ${written.failure.message}`);
      }, complain);
    },
    turnDone(model) {
      if (isClosing) return Promise.resolve();
      learning ??= learn(model)
        .then((done) => {
          if (!done.ok) log(`profile: nothing was learned: ${done.failure.message}`);
        }, complain)
        .finally(() => {
          learning = undefined;
        });
      return learning;
    },
    async close(limitMs) {
      isClosing = true;
      const waited = new AbortController();
      const limit = pause(limitMs, undefined, { signal: waited.signal }).catch(() => undefined);
      await Promise.race([learning, limit]);
      waited.abort();
      stop.abort();
      await learning;
      // What was heard last is on its way to the disk.
      await book.moment();
    },
  };
}

async function takeLesson(
  { book, journal, providers, cadence }: ProfileLearnerParts,
  moment: ProfileMoment,
  model: string,
  signal: AbortSignal,
): Promise<Result<void>> {
  const resolved = providers.resolve(model);
  if (!resolved.ok) return resolved;
  const before = moment.latest?.profile ?? EMPTY_PROFILE;
  const messages = await readMessages(journal, moment.waiting.slice(-2 * cadence), signal);
  if (messages.length === 0 && !isTooLong(before)) return book.learned(moment, undefined, model);
  const prompt = lessonPrompt(before, messages, resolved.value.model);
  const reply = await unlessAborted(askModel(resolved.value.provider, prompt, signal), signal, () =>
    fail("timed_out", "the model was not waited for any longer"),
  );
  if (!reply.ok) return reply;
  const after = readLesson(before, reply.value);
  return after.ok ? book.learned(moment, after.value === before ? undefined : after.value, model) : after;
}

/** What was said, oldest first. A conversation that is gone or broken has nothing to teach. */
async function readMessages(
  journal: Journal,
  messages: readonly HeardMessage[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const { sessionId, seq } of messages) {
    const text = await readMessage(journal, sessionId, seq, signal);
    if (text.trim() !== "") texts.push(text);
  }
  return texts;
}

async function readMessage(journal: Journal, sessionId: string, seq: number, signal: AbortSignal): Promise<string> {
  try {
    for await (const { body } of journal.read(sessionId, { after: seq - 1, follow: false }, signal)) {
      return body.case === "userSpoke" ? body.value.text : "";
    }
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
  }
  return "";
}

async function askModel(provider: Provider, prompt: Prompt, signal: AbortSignal): Promise<Result<string>> {
  let text = "";
  for await (const chunk of provider.stream(prompt, signal)) {
    if (chunk.kind === "failed") return { ok: false, failure: chunk.failure };
    if (chunk.kind === "block" && chunk.content.kind === "text") text += chunk.content.text;
    if (text.length > REPLY_LIMIT_CHARS) return fail("exhausted", `${provider.name} answers too much`);
  }
  return ok(text);
}
