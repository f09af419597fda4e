import type { FetchLike } from "@modelcontextprotocol/client";
import { UnreachedError } from "./reached-fetch.ts";

/** A request is sent once and then again at most so often. */
const MAX_RETRIES = 3;
const BASE_DELAY_MS = 250;
const FACTOR = 2;
/** Chance adds up to this share to a delay, so that many do not come back at the same moment. */
const JITTER_SHARE = 0.25;
const MAX_DELAY_MS = 60_000;
/** What a server may ask for in "Retry-After", seconds; anything else is not believed. */
const RETRY_AFTER_SECONDS = { least: 1, most: 300 };
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export type RetryParts = {
  readonly fetch: FetchLike;
  /** 0 to 1. */
  readonly chance: () => number;
  /** Hears before each pause how long it is going to be: nobody is silent meanwhile. */
  readonly onPause: (ms: number, why: string) => void;
  /** Rejects when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
};

/** Sends a request again when the server cannot be reached or is overloaded. The last answer or error is the caller's. */
export function retryingFetch({ fetch, chance, onPause, pause }: RetryParts): FetchLike {
  return async (url, init) => {
    for (let retry = 0; ; retry += 1) {
      const tried = await attempt(fetch, url, init);
      const signal = init?.signal ?? undefined;
      const isLast = retry >= MAX_RETRIES || signal?.aborted === true;
      if ("response" in tried) {
        const { response } = tried;
        if (isLast || !RETRIED_STATUSES.has(response.status)) return response;
        await response.body?.cancel();
        const ms = askedDelayMs(response) ?? delayMs(retry, chance());
        onPause(ms, `it answered ${response.status}`);
        await pause(ms, signal);
      } else {
        if (isLast) throw tried.cause;
        const ms = delayMs(retry, chance());
        onPause(ms, sayCause(tried.cause));
        await pause(ms, signal);
      }
    }
  };
}

type Tried = { readonly response: Response } | { readonly cause: unknown };

async function attempt(fetch: FetchLike, url: string | URL, init: RequestInit | undefined): Promise<Tried> {
  try {
    return { response: await fetch(url, init) };
  } catch (cause) {
    return { cause };
  }
}

function delayMs(retry: number, chance: number): number {
  const plain = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * FACTOR ** retry);
  return plain * (1 + JITTER_SHARE * chance);
}

function askedDelayMs(response: Response): number | undefined {
  const asked = Number(response.headers.get("retry-after") ?? "");
  const { least, most } = RETRY_AFTER_SECONDS;
  return Number.isFinite(asked) && asked >= least && asked <= most ? asked * 1000 : undefined;
}

/** fetch says little itself: why stands in its cause. */
export function sayCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof UnreachedError) return cause.message;
  const deeper = cause.cause instanceof Error ? cause.cause.message : "";
  return deeper === "" ? cause.message : `${cause.message}: ${deeper}`;
}
