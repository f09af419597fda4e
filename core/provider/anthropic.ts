import { setTimeout as wait } from "node:timers/promises";
import type { Failure } from "../domain/failure.ts";
import type { Chunk, Prompt, Provider } from "../domain/provider.ts";
import type { ModelClient, ServerEvent } from "./anthropic-client.ts";
import {
  eventRefusal,
  finalRefusal,
  KEY_HINT,
  networkRefusal,
  type Refusal,
  silenceRefusal,
  statusRefusal,
} from "./anthropic-failure.ts";
import { brokenStream, replyReader } from "./anthropic-reply.ts";
import { requestWriter } from "./anthropic-request.ts";

/** Answers when neither the command nor the config names a model: the vendor's own balance of speed and ability. */
export const DEFAULT_ANTHROPIC_MODEL = "claude-sonnet-5-5";
const VENDOR_BASE_URL = "https://api.anthropic.com";

/** Longest silence of the server before and inside a reply. It sends pings while the model thinks. */
const DEFAULT_TIMEOUT_MS = 180_000;
const DEFAULT_MAX_RETRIES = 2;
/** Doubles with every further try. */
const FIRST_RETRY_MS = 500;
/** A server that asks for a longer wait is not waited for: the person is told instead. */
const RETRY_WAIT_LIMIT_MS = 30_000;
/** How long the connection may take to end after the last event before it is given up. */
const DRAIN_LIMIT_MS = 1_000;

export type AnthropicOptions = {
  readonly apiKey: string;
  /** Default `https://api.anthropic.com`. A path is kept; "/v1" at its end is tolerated. */
  readonly baseUrl?: string;
  readonly model: string;
  readonly maxOutputTokens: number;
  /** Longest silence of the server, milliseconds; default 180_000. */
  readonly timeoutMs?: number;
  /** Further tries of a request that may succeed later, as long as nothing was streamed yet; default 2. */
  readonly maxRetries?: number;
};

/** One try ended well, or with the reason why not and whether something was streamed before. */
type TryOutcome =
  | { readonly ended: true }
  | { readonly ended: false; readonly told: boolean; readonly refusal: Refusal };

/** Claude models over the Messages API, streamed. The SDK is loaded on the first call. */
export function anthropicProvider(options: AnthropicOptions): Provider {
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_MAX_RETRIES } = options;
  const baseUrl = (options.baseUrl ?? VENDOR_BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "");
  const requests = requestWriter();
  let loading: Promise<ModelClient> | undefined;

  async function* tryOnce(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk, TryOutcome> {
    const body = requests.write(prompt, prompt.model || options.model, options.maxOutputTokens);
    if (body === undefined) return refused(finalRefusal(NOTHING_ASKED), false);
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal.addEventListener("abort", stop, { once: true });
    let silent = false;
    /** True while it is the reader who takes their time. */
    let reading = false;
    const watchdog = setTimeout(() => {
      if (reading) {
        watchdog.refresh();
        return;
      }
      silent = true;
      abort.abort();
    }, timeoutMs);
    const reply = replyReader();
    let events: AsyncIterator<ServerEvent> | undefined;
    let ended = false;
    try {
      const settings = { apiKey, baseUrl, timeoutMs, olderDialect: baseUrl !== VENDOR_BASE_URL };
      loading ??= import("./anthropic-client.ts").then((module) => module.modelClient(settings));
      const client = await loading;
      const response = await client.ask(body, abort.signal);
      const wrong = notAStream(response, baseUrl);
      if (wrong !== undefined) return refused(finalRefusal(wrong), false);
      events = client.read(response, abort)[Symbol.asyncIterator]();
      while (!signal.aborted) {
        const next = await events.next();
        watchdog.refresh();
        if (next.done === true) return refused(unfinished("the server closed the connection"), reply.told());
        const { event, data } = next.value;
        if (event === "error") return refused(eventRefusal(data), reply.told());
        if (data === "") continue;
        const chunk = reply.read(data);
        if (chunk === undefined) continue;
        if (chunk.kind === "failed") return refused(finalRefusal(chunk.failure), reply.told());
        ended = chunk.kind === "end";
        reading = true;
        yield chunk;
        reading = false;
        watchdog.refresh();
        if (ended) return { ended: true };
      }
      return refused(finalRefusal(CANCELLED), reply.told());
    } catch (cause) {
      if (signal.aborted) return refused(finalRefusal(CANCELLED), reply.told());
      if (silent) return refused(silenceRefusal(baseUrl, timeoutMs), reply.told());
      if (isStatusError(cause)) return refused(statusRefusal(cause), reply.told());
      if (events !== undefined) return refused(unfinished(messageOf(cause), cause), reply.told());
      loading = undefined;
      return refused(networkRefusal(baseUrl, cause), reply.told());
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", stop);
      if (ended && events !== undefined) void drain(events, abort);
      else abort.abort();
    }
  }

  async function* stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk> {
    const unfit = unfitSettings(apiKey, baseUrl);
    if (unfit !== undefined) {
      yield { kind: "failed", failure: unfit };
      return;
    }
    let forgot = false;
    for (let retry = 0; ; retry += 1) {
      if (signal.aborted) break;
      const outcome = yield* tryOnce(prompt, signal);
      if (outcome.ended) return;
      const { refusal, told } = outcome;
      if (refusal.thinkingRefused && !forgot) {
        forgot = true;
        requests.forgetThinking(prompt.messages);
        continue;
      }
      const delayMs = refusal.retryAfterMs ?? FIRST_RETRY_MS * 2 ** retry;
      if (told || !refusal.mayRetry || retry >= maxRetries || delayMs > RETRY_WAIT_LIMIT_MS) {
        yield { kind: "failed", failure: withoutKey(refusal.failure, apiKey) };
        return;
      }
      // An abort ends the wait early, and the loop sees it.
      await wait(delayMs, undefined, { signal }).catch(() => undefined);
    }
    yield { kind: "failed", failure: CANCELLED };
  }

  return { name: "anthropic", defaultModel: options.model, stream };
}

const NOTHING_ASKED: Failure = {
  code: "invalid",
  message: "the prompt holds nothing to answer",
  hint: "say something that is more than spaces",
};
const CANCELLED: Failure = { code: "cancelled", message: "the model call was interrupted" };

function refused(refusal: Refusal, told: boolean): TryOutcome {
  return { ended: false, told, refusal };
}

/** A reply without its end may be tried again: whether anything was streamed is checked elsewhere. */
function unfinished(what: string, cause?: unknown): Refusal {
  return { ...finalRefusal(brokenStream(what, cause)), mayRetry: true };
}

function unfitSettings(apiKey: string, baseUrl: string): Failure | undefined {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const message =
      apiKey === ""
        ? "there is no API key for Anthropic"
        : "the API key for Anthropic holds characters that no key has";
    return { code: "denied", message, hint: KEY_HINT };
  }
  if (!/^https?:/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    const hint = `write it like ${VENDOR_BASE_URL} (base_url under [providers.anthropic], or ANTHROPIC_BASE_URL)`;
    return { code: "invalid", message: `"${baseUrl}" is not the address of a model server`, hint };
  }
  return undefined;
}

function notAStream(response: Response, baseUrl: string): Failure | undefined {
  const kind = response.headers.get("content-type") ?? "nothing";
  if (kind.includes("text/event-stream")) return undefined;
  const message = `${baseUrl} answered with ${kind} and not with an event stream`;
  return {
    code: "unavailable",
    message,
    hint: "check base_url under [providers.anthropic]: it may be another kind of server",
  };
}

type StatusError = Parameters<typeof statusRefusal>[0];

/** By shape: the class is in a module that is only loaded when needed. */
function isStatusError(cause: unknown): cause is StatusError {
  if (!(cause instanceof Error) || !("status" in cause) || !("headers" in cause)) return false;
  return typeof cause.status === "number" && cause.headers instanceof Headers;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Servers repeat what they were sent; the key must not get into a journal that way. */
function withoutKey(failure: Failure, apiKey: string): Failure {
  return { ...failure, message: failure.message.replaceAll(apiKey, "(the API key)") };
}

/** Reads the connection to its end so that it can be used again, and gives it up when the end does not come. */
async function drain(events: AsyncIterator<unknown>, abort: AbortController): Promise<void> {
  const limit = setTimeout(() => abort.abort(), DRAIN_LIMIT_MS);
  limit.unref();
  try {
    while ((await events.next()).done !== true);
  } catch {
    // The reply is whole already; how its connection dies matters to nobody.
  } finally {
    clearTimeout(limit);
  }
}
