import { setTimeout as pause } from "node:timers/promises";
import type { Embedder } from "../../domain/embedder.ts";
import { type Failed, type Failure, type FailureCode, fail, ok, type Result } from "../../domain/failure.ts";
import type { EmbeddingWire } from "./embedding-wire.ts";
import { AnswerTooLong, isSuccess, type Posted, postJson } from "./post-json.ts";

export type HttpEmbedderOptions = {
  /** Of the model for ever. */
  readonly id: string;
  readonly wire: EmbeddingWire;
  readonly url: string;
  readonly model: string;
  /** Empty for a server that asks for none. */
  readonly apiKey: string;
  /** 0: as the first answer has it. */
  readonly dimensions: number;
  /** For one exchange; default 120 seconds: a model on a processor takes its time. */
  readonly timeoutMs?: number;
  /** Waits between tries; rejects when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

const DEFAULT_TIMEOUT_MS = 120_000;
/** What comes before the further tries. */
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000];
/** A server that asks for a longer wait is not waited for here. */
const RETRY_WAIT_LIMIT_MS = 30_000;
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
const BATCH_LIMIT_CHARS = 200_000;
/** More numbers than these in one answer, and reading them would hold everything else up. */
const BATCH_LIMIT_NUMBERS = 100_000;
/** Until it is known how many numbers a vector has. */
const FIRST_BATCH_LIMIT_TEXTS = 32;
/** Models take some 8,000 tokens, and a token may be one character. */
const TEXT_LIMIT_CHARS = 8_000;
const VECTOR_LIMIT_NUMBERS = 16_384;
/** The server's words in a message are cut here. */
const WORDS_LIMIT_CHARS = 500;
/** A shorter key would be found in any text. */
const KEY_LEAST_CHARS = 4;

/** One try ended with an answer, or with a reason and perhaps the hope of a better one. */
type Try =
  | { readonly kind: "vectors"; readonly vectors: readonly Float32Array[] }
  | { readonly kind: "failed"; readonly failed: Failed; readonly again: boolean; readonly retryAfterMs?: number };

/** An embedding service over HTTP. Any number of texts, asked for in batches, each again up to three times. */
export function httpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { id, wire, url, model, apiKey, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const wait = options.wait ?? ((ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }));
  let dimensions = options.dimensions;

  async function tryOnce(texts: readonly string[], kind: "query" | "document", signal: AbortSignal): Promise<Try> {
    const body = JSON.stringify(wire.question(model, texts, kind));
    let posted: Posted;
    try {
      const headers = wire.headers(apiKey);
      posted = await postJson({ url, headers, body, timeoutMs, limitBytes: ANSWER_LIMIT_BYTES }, signal);
    } catch (cause) {
      return unreached(cause, signal);
    }
    const { status, retryAfterMs } = posted;
    if (!isSuccess(status)) {
      const again = status >= 500 || status === 429;
      const failed: Failed = { ok: false, failure: statusFailure(status, withoutKey(posted.text)) };
      return { kind: "failed", failed, again, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    const vectors = readAnswer(posted.text, texts.length);
    if (typeof vectors === "string") return { kind: "failed", failed: brokenAnswer(vectors), again: false };
    return { kind: "vectors", vectors };
  }

  function unreached(cause: unknown, signal: AbortSignal): Try {
    if (signal.aborted) return { kind: "failed", failed: fail("cancelled", "embedding was stopped"), again: false };
    if (cause instanceof AnswerTooLong) {
      return { kind: "failed", failed: brokenAnswer(cause.message.replace("the answer ", "")), again: false };
    }
    const late = cause instanceof DOMException && cause.name === "TimeoutError";
    const why = late ? `no answer within ${timeoutMs / 1000} s` : withoutKey(messageOf(cause));
    const failed = fail(late ? "timed_out" : "unavailable", `cannot reach the embedding API at ${shown(url)}: ${why}`, {
      hint: "check the network and the address (embedding_api_url under [memory], or EMBEDDING_API_URL)",
      cause,
    });
    return { kind: "failed", failed, again: true };
  }

  function readAnswer(text: string, wanted: number): readonly Float32Array[] | string {
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      return "is no JSON";
    }
    const vectors = wire.vectors(answer, wanted);
    if (typeof vectors === "string") return vectors;
    const length = dimensions === 0 ? (vectors[0]?.length ?? 0) : dimensions;
    if (length > VECTOR_LIMIT_NUMBERS) return `holds a vector of ${length} numbers, more than ${VECTOR_LIMIT_NUMBERS}`;
    const odd = vectors.find((vector) => vector.length !== length);
    if (odd !== undefined) return `holds a vector of ${odd.length} numbers where ${length} were expected`;
    dimensions = length;
    return vectors;
  }

  function brokenAnswer(what: string): Failed {
    return fail("unavailable", `the answer of the embedding API at ${shown(url)} ${what}`, {
      hint: `check that it serves the model ${model}; another model needs another name in embedding_model`,
    });
  }

  function withoutKey(text: string): string {
    const plain = apiKey.length < KEY_LEAST_CHARS ? text : text.replaceAll(apiKey, "[key]");
    // A key that is not ours has no business in a message either.
    const safe = plain.replace(/\b(?:sk-|AIza)[\w-]{8,}/g, "[key]").replace(/\p{Cc}+/gu, " ");
    return safe.slice(0, WORDS_LIMIT_CHARS).toWellFormed().trim();
  }

  async function embedBatch(
    texts: readonly string[],
    kind: "query" | "document",
    signal: AbortSignal,
  ): Promise<Result<readonly Float32Array[]>> {
    for (let tries = 0; ; tries += 1) {
      const outcome = await tryOnce(texts, kind, signal);
      if (outcome.kind === "vectors") return ok(outcome.vectors);
      const delayMs = Math.max(RETRY_DELAYS_MS[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterMs ?? 0);
      if (!outcome.again || delayMs > RETRY_WAIT_LIMIT_MS) return outcome.failed;
      // An abort ends the wait early, and the next try sees it.
      await wait(delayMs, signal).catch(() => undefined);
    }
  }

  return {
    id,
    get dimensions() {
      return dimensions;
    },
    async embed(texts, kind, signal) {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; ) {
        const batch = nextBatch(texts, from, batchLimit(wire, dimensions));
        const embedded = await embedBatch(batch, kind, signal);
        if (!embedded.ok) return embedded;
        vectors.push(...embedded.value);
        from += batch.length;
      }
      return ok(vectors);
    },
  };
}

function batchLimit(wire: EmbeddingWire, dimensions: number): number {
  if (dimensions === 0) return Math.min(wire.limitTexts, FIRST_BATCH_LIMIT_TEXTS);
  return Math.min(wire.limitTexts, Math.max(1, Math.floor(BATCH_LIMIT_NUMBERS / dimensions)));
}

/** At least one text, as a service takes it: not empty, not too long. */
function nextBatch(texts: readonly string[], from: number, limitTexts: number): readonly string[] {
  const batch: string[] = [];
  let chars = 0;
  for (const text of texts.slice(from, from + limitTexts)) {
    const cut = text.slice(0, TEXT_LIMIT_CHARS).toWellFormed();
    chars += cut.length;
    if (batch.length > 0 && chars > BATCH_LIMIT_CHARS) break;
    // An empty text is refused by most, together with all others.
    batch.push(cut.trim() === "" ? "(empty)" : cut);
  }
  return batch;
}

function statusFailure(status: number, words: string): Failure {
  const { code, hint } = STATUS_MEANINGS.get(status) ?? (status >= 500 ? SERVER_TROUBLE : REFUSED);
  return { code, message: `Embedding API error ${status}: ${words}`, hint };
}

type Meaning = { readonly code: FailureCode; readonly hint: string };

const BAD_KEY: Meaning = {
  code: "denied",
  hint: "check the key (embedding_api_key under [memory], EMBEDDING_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY)",
};
const SERVER_TROUBLE: Meaning = { code: "unavailable", hint: "the service is in trouble; it is tried again by itself" };
const REFUSED: Meaning = { code: "invalid", hint: "check embedding_model and embedding_api_url under [memory]" };

const STATUS_MEANINGS: ReadonlyMap<number, Meaning> = new Map([
  [401, BAD_KEY],
  [403, BAD_KEY],
  [404, { code: "not_found", hint: REFUSED.hint } as const],
  [429, { code: "exhausted", hint: "the service's limit is reached; it is tried again by itself" } as const],
]);

/** An address without what may be secret in it. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function messageOf(cause: unknown): string {
  // Of several addresses that were all tried in vain, the error itself says nothing.
  if (cause instanceof AggregateError && cause.errors.length > 0) return messageOf(cause.errors[0]);
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
