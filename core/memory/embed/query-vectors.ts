import type { Embedder } from "../../domain/embedder.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";

export type QueryVectorsOptions = {
  /** Milliseconds that never go back. */
  readonly ticks: () => number;
  /** How long a search waits for its vector; default 1.5 seconds. */
  readonly limitMs?: number;
};

/** Vectors of what is searched for. */
export type QueryVectors = {
  /** Never later than the limit; an answer that comes later serves the next search for the same words. */
  vectorOf(embedder: Embedder, text: string, signal: AbortSignal): Promise<Result<Float32Array>>;
  /** Ends what is under way. */
  close(): void;
};

const WAIT_LIMIT_MS = 1_500;
/** A question that nobody waits for any more goes on for so long. */
const QUESTION_LIMIT_MS = 15_000;
const QUESTIONS_LIMIT = 4;
/** After a failure searches do not wait at all for so long. */
const REST_MS = 10_000;
/** Some 12 KiB each at most of what is usual. */
const KEPT_LIMIT_VECTORS = 128;

type Rest = { readonly embedderId: string; readonly untilMs: number; readonly why: string };

export function openQueryVectors({ ticks, limitMs = WAIT_LIMIT_MS }: QueryVectorsOptions): QueryVectors {
  const closing = new AbortController();
  /** The least recently used first. */
  const kept = new Map<string, Float32Array>();
  const asked = new Map<string, Promise<Result<Float32Array>>>();
  let rest: Rest | undefined;

  async function ask(embedder: Embedder, text: string, key: string): Promise<Result<Float32Array>> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(QUESTION_LIMIT_MS)]);
    const answer = await embedder.embed([text], "query", signal).finally(() => asked.delete(key));
    const vector = answer.ok ? answer.value[0] : undefined;
    if (vector !== undefined) {
      rest = undefined;
      keep(key, vector);
      return ok(vector);
    }
    const failed = answer.ok ? fail("unavailable", `the embedder ${embedder.id} gave no vector`) : answer;
    if (!closing.signal.aborted) restAfter(embedder, failed.failure.message);
    return failed;
  }

  function keep(key: string, vector: Float32Array): void {
    kept.delete(key);
    kept.set(key, vector);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_LIMIT_VECTORS && oldest !== undefined) kept.delete(oldest);
  }

  function restAfter(embedder: Embedder, why: string): void {
    rest = { embedderId: embedder.id, untilMs: ticks() + REST_MS, why };
  }

  function resting(embedder: Embedder): string | undefined {
    return rest !== undefined && rest.embedderId === embedder.id && ticks() < rest.untilMs ? rest.why : undefined;
  }

  return {
    async vectorOf(embedder, text, signal) {
      if (signal.aborted) return fail("cancelled", "the search was stopped");
      const key = `${embedder.id}\n${text}`;
      const known = kept.get(key);
      if (known !== undefined) {
        keep(key, known);
        return ok(known);
      }
      const underWay = asked.get(key);
      const why = resting(embedder);
      if (underWay === undefined && why !== undefined) return fail("unavailable", why, { hint: REST_HINT });
      if (underWay === undefined && asked.size >= QUESTIONS_LIMIT) {
        return fail("exhausted", `the embedder ${embedder.id} has too many questions at once`, { hint: REST_HINT });
      }
      const question = underWay ?? ask(embedder, text, key);
      if (underWay === undefined) {
        asked.set(key, question);
        // Whoever still waits hears of it; with nobody left it must not end the daemon.
        question.catch(() => undefined);
      }
      const answer = await waitFor(question, limitMs, signal);
      if (answer !== undefined) return answer;
      if (signal.aborted) return fail("cancelled", "the search was stopped");
      const late = `the embedder ${embedder.id} gave no vector within ${limitMs / 1000} s`;
      restAfter(embedder, late);
      return fail("timed_out", late, { hint: REST_HINT });
    },
    close: () => closing.abort(),
  };
}

const REST_HINT = "search again a little later; meanwhile words alone decide";

/** Undefined when the time is over or the signal aborts first. */
async function waitFor<T>(work: Promise<T>, limitMs: number, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const end = () => resolve(undefined);
  const timer = setTimeout(end, limitMs);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
