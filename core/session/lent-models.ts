import { type ModelWords, STRANGERS_WORDS_LIMIT_CHARS, type WordsWanted } from "../domain/desk.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Stop } from "../domain/provider.ts";
import { unlessAborted } from "../domain/unless-aborted.ts";
import type { LentModel } from "./turn/turn-context.ts";

/** Programs that lend a model at once. */
const LENDERS_MAX = 256;
const NAME_LIMIT_CHARS = 128;

/** What a lender hears: its own id, first, then what its model is to answer. */
export type LenderNews =
  | { readonly kind: "lender"; readonly lenderId: string }
  | { readonly kind: "wish"; readonly wishId: string; readonly wanted: WordsWanted };

/** `problem` is why there is none; empty when there is. */
export type LentAnswer = {
  readonly problem: string;
  readonly text: string;
  readonly stop: string;
  readonly model: string;
  /** Of prompt and answer; undefined when the lender does not say. */
  readonly tokens: number | undefined;
};

export type LentModels = {
  /** Lends until the signal aborts or nobody listens any more; what is asked then fails. */
  lend(signal: AbortSignal): AsyncGenerator<LenderNews, void, undefined>;
  answer(wishId: string, answer: LentAnswer): Result<void>;
  /** The model of a lender, for one call: whoever names it again gets none. Undefined when there is no such lender. */
  take(lenderId: string): LentModel | undefined;
};

type Wish = { readonly wishId: string; readonly wanted: WordsWanted };

/** @param newSecret nobody guesses it: only a lender hears its id and those of its wishes, so knowing one is what proves it */
export function lentModels(newSecret: () => string): LentModels {
  const lenders = new Set<string>();
  const untaken = new Map<string, LentModel>();
  const open = new Map<string, (words: ModelWords) => void>();

  return {
    async *lend(signal) {
      if (lenders.size >= LENDERS_MAX) return;
      const lenderId = newSecret();
      const gone = new AbortController();
      const over = AbortSignal.any([signal, gone.signal]);
      const waiting: Wish[] = [];
      let wake = (): void => {};
      lenders.add(lenderId);
      untaken.set(lenderId, (wanted, wantedUntil) => {
        const wishId = newSecret();
        const answered = new Promise<ModelWords>((resolve) => open.set(wishId, resolve));
        waiting.push({ wishId, wanted });
        wake();
        const until = AbortSignal.any([over, wantedUntil]);
        return unlessAborted(answered, until, () => isGone(over.aborted)).finally(() => open.delete(wishId));
      });
      const stop = () => wake();
      over.addEventListener("abort", stop, { once: true });
      try {
        yield { kind: "lender", lenderId };
        while (!over.aborted) {
          const wish = waiting.shift();
          if (wish === undefined)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          // Whoever asked may not wait any more.
          else if (open.has(wish.wishId)) yield { kind: "wish", ...wish };
        }
      } finally {
        lenders.delete(lenderId);
        untaken.delete(lenderId);
        gone.abort();
      }
    },
    answer(wishId, answer) {
      const resolve = open.get(wishId);
      if (resolve === undefined) return fail("not_found", "nobody waits for that answer any more");
      resolve(wordsOf(answer));
      return ok(undefined);
    },
    take(lenderId) {
      const model = untaken.get(lenderId);
      untaken.delete(lenderId);
      return model;
    },
  };
}

function isGone(lenderIsGone: boolean): ModelWords {
  const why = lenderIsGone ? "the program that lent its model is gone" : "what the model was asked for is over";
  return { said: fail("cancelled", why), tokens: undefined };
}

function wordsOf({ problem, text, stop, model, tokens }: LentAnswer): ModelWords {
  if (problem !== "")
    return { said: fail("unavailable", `the lent model did not answer: ${problem}`), tokens: tokens ?? 0 };
  if (text.length > STRANGERS_WORDS_LIMIT_CHARS)
    return { said: fail("exhausted", "the lent model answers too much"), tokens };
  const ended: Stop = stop === "length" || stop === "refused" ? stop : "done";
  return { said: ok({ text, stop: ended, model: `lent/${model.slice(0, NAME_LIMIT_CHARS)}` }), tokens };
}
