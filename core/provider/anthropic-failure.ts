import type { APIError } from "@anthropic-ai/sdk/core/error";
import type { Failure, FailureCode } from "../domain/failure.ts";

/** What went wrong with one try, and what can be done about it here. */
export type Refusal = {
  readonly failure: Failure;
  /** True when the same request may well succeed a little later. */
  readonly mayRetry: boolean;
  /** How long the server asked to wait, milliseconds; undefined when it did not say. */
  readonly retryAfterMs: number | undefined;
  /** True when the thinking sent back was refused: the request may succeed without it. */
  readonly thinkingRefused: boolean;
};

/** The vendor's words are cut here: proxies answer with whole web pages. */
const WORDS_LIMIT_UNITS = 400;

/** The next move of whoever has no key, or a wrong one. */
export const KEY_HINT =
  "set ANTHROPIC_API_KEY, or api_key under [providers.anthropic] in config.toml, then restart the daemon with `claw down`";
const WAIT_HINT = "wait a little and say it again";

/** What the vendor's kinds of error mean here. A status and an error event inside a stream carry the same kinds. */
const KINDS: Readonly<Record<string, { code: FailureCode; hint: string; mayRetry: boolean }>> = {
  authentication_error: { code: "denied", hint: KEY_HINT, mayRetry: false },
  permission_error: { code: "denied", hint: `this key may not do that; ${KEY_HINT}`, mayRetry: false },
  billing_error: { code: "exhausted", hint: "look at the billing page of the Anthropic console", mayRetry: false },
  not_found_error: { code: "not_found", hint: "check the model's name and base_url", mayRetry: false },
  request_too_large: { code: "exhausted", hint: "start a new session: this one no longer fits", mayRetry: false },
  invalid_request_error: { code: "invalid", hint: "the request itself was refused; see the message", mayRetry: false },
  conflict_error: { code: "unavailable", hint: WAIT_HINT, mayRetry: true },
  rate_limit_error: { code: "exhausted", hint: WAIT_HINT, mayRetry: true },
  timeout_error: { code: "timed_out", hint: WAIT_HINT, mayRetry: true },
  api_error: { code: "unavailable", hint: WAIT_HINT, mayRetry: true },
  overloaded_error: { code: "unavailable", hint: WAIT_HINT, mayRetry: true },
};

const KIND_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [408, "timeout_error"],
  [409, "conflict_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/** A failure that no second try and no wait will change. */
export function finalRefusal(failure: Failure): Refusal {
  return { failure, mayRetry: false, retryAfterMs: undefined, thinkingRefused: false };
}

/** The server answered with an HTTP error. */
export function statusRefusal(cause: APIError<number, Headers, object | undefined>): Refusal {
  const { status, headers } = cause;
  const kind = KIND_OF_STATUS.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
  const words = cause.apiMessage ?? cause.message.replace(/^\d+ /, "");
  const refusal = kindRefusal(kind, words, `${status}`, cause);
  const retryAfterMs = readRetryAfter(headers);
  const told = headers.get("x-should-retry");
  const mayRetry = told === null ? refusal.mayRetry : told === "true";
  const { failure } = refusal;
  if (retryAfterMs === undefined || failure.hint !== WAIT_HINT) return { ...refusal, mayRetry, retryAfterMs };
  const hint = `wait ${Math.ceil(retryAfterMs / 1000)} s and say it again`;
  return { ...refusal, mayRetry, retryAfterMs, failure: { ...failure, hint } };
}

/** The server sent an error event in the stream. `data` is the event's data, JSON or not. */
export function eventRefusal(data: string): Refusal {
  let error: { readonly type?: unknown; readonly message?: unknown } = {};
  try {
    const body = JSON.parse(data) as {
      readonly error?: { readonly type?: unknown; readonly message?: unknown };
    } | null;
    error = body?.error ?? {};
  } catch {
    // Then its text has to do.
  }
  const kind = typeof error.type === "string" ? error.type : "api_error";
  return kindRefusal(kind, typeof error.message === "string" ? error.message : data, kind, undefined);
}

function kindRefusal(kind: string, words: string, label: string, cause: unknown): Refusal {
  const message = `Anthropic refused the request (${label}): ${words.slice(0, WORDS_LIMIT_UNITS).trim()}`;
  const why = cause === undefined ? {} : { cause };
  const full = fullness(kind, words);
  if (full !== undefined) return finalRefusal({ code: "exhausted", message, hint: full, ...why });
  const { code, hint, mayRetry } = KINDS[kind] ?? { code: "unavailable", hint: WAIT_HINT, mayRetry: true };
  const thinkingRefused =
    kind === "invalid_request_error" && /thinking/i.test(words) && /signature|bound|modified|block/i.test(words);
  return { failure: { code, message, hint, ...why }, mayRetry, retryAfterMs: undefined, thinkingRefused };
}

/** Some limits are told only in the words of a plain 400. */
function fullness(kind: string, words: string): string | undefined {
  if (kind !== "invalid_request_error") return undefined;
  if (
    /prompt is too long|context (?:window|length|limit)|too many (?:total )?(?:text|input) ?(?:bytes|tokens)?/i.test(
      words,
    )
  ) {
    return "start a new session: this one no longer fits into the model's context";
  }
  if (/spend limit|usage limit|credit balance/i.test(words)) return "look at the billing page of the Anthropic console";
  return undefined;
}

/** No answer came at all. `cause` is whatever the client or the network threw. */
export function networkRefusal(baseUrl: string, cause: unknown): Refusal {
  const message = `cannot reach the model at ${baseUrl}: ${deepestMessage(cause).slice(0, WORDS_LIMIT_UNITS)}`;
  const hint = "check the network and base_url under [providers.anthropic] in config.toml";
  return {
    failure: { code: "unavailable", message, hint, cause },
    mayRetry: true,
    retryAfterMs: undefined,
    thinkingRefused: false,
  };
}

/** The server was silent for too long. */
export function silenceRefusal(baseUrl: string, timeoutMs: number): Refusal {
  const message = `the model at ${baseUrl} sent nothing for ${timeoutMs / 1000} s`;
  const failure: Failure = { code: "timed_out", message, hint: "say it again; if it stays, check base_url" };
  return { failure, mayRetry: true, retryAfterMs: undefined, thinkingRefused: false };
}

/** `fetch failed` says nothing; the reason is at the bottom of the chain of causes. */
function deepestMessage(cause: unknown): string {
  let message = "unknown reason";
  let current: unknown = cause;
  for (let depth = 0; depth < 8 && current instanceof Error; depth += 1) {
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0];
    if (current instanceof Error && current.message !== "") message = current.message;
    current = current instanceof Error ? current.cause : undefined;
  }
  return message;
}

/** Milliseconds; a date in the header is not read, the vendor sends seconds. */
function readRetryAfter(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : undefined;
}
