import { BaseAnthropic } from "@anthropic-ai/sdk/client";
import { Stream } from "@anthropic-ai/sdk/core/streaming";
import { type DirectRequest, directFetch } from "./direct-fetch.ts";

/** The headers that are ours. The SDK adds whatever ANTHROPIC_CUSTOM_HEADERS holds; configuration is not its business. */
const OWN_HEADER = /^(?:accept|content-type|user-agent|authorization|x-api-key|anthropic-version|x-stainless-.+)$/;

export type ClientOptions = {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Longest wait for the head of an answer, milliseconds. */
  readonly timeoutMs: number;
  /** True to send the key where proxies and local servers of the older dialect look for it as well. */
  readonly olderDialect: boolean;
};

export type ServerEvent = { readonly event: string | null; readonly data: string };

export type ModelClient = {
  /** Sends one request body; rejects with the SDK's errors, also for an answer that is an HTTP error. */
  ask(body: Uint8Array, signal: AbortSignal): Promise<Response>;
  /** The events of an answer as they come in, pings included. */
  read(response: Response, abort: AbortController): AsyncIterable<ServerEvent>;
};

/**
 * The official SDK, set up for one server. Only the core of its client is used, not the 80 resources of the full one, so
 * that a bundler drops those: a quarter of the time to load. Everything that the SDK would read from the environment by
 * itself is given or switched off. This module is loaded on the first call.
 */
export function modelClient({ apiKey, baseUrl, timeoutMs, olderDialect }: ClientOptions): ModelClient {
  const client = new BaseAnthropic({
    apiKey,
    authToken: null,
    webhookKey: null,
    baseURL: baseUrl,
    timeout: timeoutMs,
    // Tries are counted in `stream`: the SDK would sleep for as long as a server asks it to.
    maxRetries: 0,
    logLevel: "off",
    openTelemetry: false,
    fetch: (url, init) => directFetch(directRequest(url, init)),
  });
  const headers = {
    "content-type": "application/json",
    // Named here as well, so that ANTHROPIC_CUSTOM_HEADERS cannot put another key in its place.
    authorization: `Bearer ${apiKey}`,
    ...(olderDialect ? { "x-api-key": apiKey } : {}),
  };
  return {
    ask: (body, signal) => client.post("/v1/messages", { body, headers, stream: true, signal }).asResponse(),
    read: (response, abort) => Stream.rawEvents(response, abort),
  };
}

/** Takes what the SDK would hand to `fetch`. It only ever sends what `tryOnce` gives it. */
function directRequest(url: string | URL | Request, init: RequestInit | undefined): DirectRequest {
  const { body, signal, method = "POST" } = init ?? {};
  if (!(body instanceof Uint8Array) || signal === null || signal === undefined)
    throw new TypeError("the SDK changed the request");
  const headers = new Headers(init?.headers);
  for (const name of [...headers.keys()]) if (!OWN_HEADER.test(name)) headers.delete(name);
  return { url: url instanceof Request ? url.url : String(url), method, headers, body, signal };
}
