/** Request. Runs inside the isolate. */

import { AbortController, AbortSignal } from "./abort.ts";
import { Body, HANDED_OVER, newHeaders, type Payload, payloadOf, SHARED, WHOLE } from "./body.ts";
import { showMembers } from "./shown-members.ts";
import { parseUrl } from "./url-library.ts";

export type RequestInit = {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  signal?: AbortSignal | null;
  redirect?: unknown;
  cache?: unknown;
  credentials?: unknown;
};
type Redirect = "follow" | "manual" | "error";

const REDIRECTS: readonly unknown[] = ["follow", "manual", "error"] satisfies Redirect[];
const KNOWN_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

function methodOf(method: unknown): string {
  const text = String(method);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`"${text}" is not a legal method`);
  const upper = text.toUpperCase();
  if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK")
    throw new TypeError(`the method ${upper} is not allowed`);
  return KNOWN_METHODS.includes(upper) ? upper : text;
}

function redirectOf(redirect: unknown): Redirect {
  if (!REDIRECTS.includes(redirect)) throw new TypeError('redirect is "follow", "manual" or "error"');
  return redirect as Redirect;
}

export class Request extends Body {
  readonly #url: string;
  readonly #method: string;
  readonly #redirect: Redirect;
  readonly #signal: AbortSignal;
  readonly #cache: string;
  readonly #credentials: string;

  constructor(input: unknown, init: RequestInit | null = {}) {
    const given = init ?? {};
    const model = input instanceof Request ? input : null;
    const url = model ? model.#url : parseUrl(input, "Request").href;
    const method = given.method === undefined ? (model ? model.#method : "GET") : methodOf(given.method);
    let payload: Payload | null = payloadOf(given.body);
    if (payload === null && model && given.body === undefined) payload = model[HANDED_OVER]();
    if (payload !== null && (method === "GET" || method === "HEAD"))
      throw new TypeError(`a request with the method ${method} has no body`);
    super(payload, newHeaders(given.headers ?? model?.headers));
    this.#url = url;
    this.#method = method;
    this.#redirect = given.redirect === undefined ? (model ? model.#redirect : "follow") : redirectOf(given.redirect);
    const signal = given.signal === undefined ? model?.signal : given.signal;
    if (signal && !(signal instanceof AbortSignal)) throw new TypeError("a request's signal is an AbortSignal");
    this.#signal = signal ? AbortSignal.any([signal]) : new AbortController().signal;
    this.#cache = String(given.cache ?? model?.cache ?? "default");
    this.#credentials = String(given.credentials ?? model?.credentials ?? "same-origin");
  }

  get url(): string {
    return this.#url;
  }
  get method(): string {
    return this.#method;
  }
  get redirect(): Redirect {
    return this.#redirect;
  }
  get signal(): AbortSignal {
    return this.#signal;
  }
  get cache(): string {
    return this.#cache;
  }
  get credentials(): string {
    return this.#credentials;
  }
  get mode(): string {
    return "cors";
  }
  get referrer(): string {
    return "about:client";
  }
  get referrerPolicy(): string {
    return "";
  }
  get integrity(): string {
    return "";
  }
  get keepalive(): boolean {
    return false;
  }
  get destination(): string {
    return "";
  }
  get duplex(): string {
    return "half";
  }

  clone(): Request {
    const body = this[SHARED]();
    return new Request(this.#url, {
      method: this.#method,
      headers: this.headers,
      body: body?.content,
      redirect: this.#redirect,
      signal: this.#signal,
      cache: this.#cache,
      credentials: this.#credentials,
    });
  }

  get [Symbol.toStringTag](): string {
    return "Request";
  }
}

showMembers(Request, ["bodyUsed", "headers", "method", "redirect", "url"]);

/** What goes over the wire; reading it uses the request's body up. */
export async function bytesOfRequest(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  return request[WHOLE]();
}
