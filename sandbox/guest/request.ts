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
  mode?: unknown;
  referrer?: unknown;
  referrerPolicy?: unknown;
  integrity?: unknown;
  keepalive?: unknown;
};
type Redirect = "follow" | "manual" | "error";

const REDIRECTS = ["follow", "manual", "error"];
const MODES = ["same-origin", "no-cors", "cors"];
const CREDENTIALS = ["omit", "same-origin", "include"];
const CACHES = ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"];
const REFERRER_POLICIES = [
  ...["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin"],
  ...["origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
];
const KNOWN_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

function methodOf(method: unknown): string {
  const text = String(method);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`"${text}" is not a legal method`);
  const upper = text.toUpperCase();
  if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK")
    throw new TypeError(`the method ${upper} is not allowed`);
  return KNOWN_METHODS.includes(upper) ? upper : text;
}

/** What only browsers act on: it is checked, kept and told. */
type Manner = {
  readonly mode: string;
  readonly referrer: string;
  readonly referrerPolicy: string;
  readonly integrity: string;
  readonly keepalive: boolean;
  readonly cache: string;
  readonly credentials: string;
  readonly redirect: string;
};

const PLAIN: Manner = {
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
  integrity: "",
  keepalive: false,
  cache: "default",
  credentials: "same-origin",
  redirect: "follow",
};

function referrerOf(referrer: string): string {
  return referrer === "" || referrer === "about:client" ? referrer : parseUrl(referrer, "a referrer").href;
}

function mannerOf(init: RequestInit, model: Manner): Manner {
  const chosen = (name: "mode" | "cache" | "credentials" | "redirect" | "referrerPolicy", known: readonly string[]) => {
    if (init[name] === undefined) return model[name];
    const value = String(init[name]);
    if (!known.includes(value)) throw new TypeError(`a request's ${name} is one of "${known.join('", "')}"`);
    return value;
  };
  return {
    mode: chosen("mode", MODES),
    referrer: init.referrer === undefined ? model.referrer : referrerOf(String(init.referrer)),
    referrerPolicy: chosen("referrerPolicy", REFERRER_POLICIES),
    integrity: init.integrity === undefined ? model.integrity : String(init.integrity),
    keepalive: init.keepalive === undefined ? model.keepalive : Boolean(init.keepalive),
    cache: chosen("cache", CACHES),
    credentials: chosen("credentials", CREDENTIALS),
    redirect: chosen("redirect", REDIRECTS),
  };
}

export class Request extends Body {
  readonly #url: string;
  readonly #method: string;
  readonly #manner: Manner;
  readonly #signal: AbortSignal;

  constructor(input: unknown, init: RequestInit | null = {}) {
    const given = init ?? {};
    const model = input instanceof Request ? input : null;
    const url = model ? model.#url : parseUrl(input, "Request").href;
    const method = given.method === undefined ? (model ? model.#method : "GET") : methodOf(given.method);
    const manner = mannerOf(given, model ? model.#manner : PLAIN);
    let payload: Payload | null = payloadOf(given.body);
    if (payload === null && model && given.body === undefined) payload = model[HANDED_OVER]();
    if (payload !== null && (method === "GET" || method === "HEAD"))
      throw new TypeError(`a request with the method ${method} has no body`);
    super(payload, newHeaders(given.headers ?? model?.headers));
    this.#url = url;
    this.#method = method;
    this.#manner = manner;
    const signal = given.signal === undefined ? model?.signal : given.signal;
    if (signal && !(signal instanceof AbortSignal)) throw new TypeError("a request's signal is an AbortSignal");
    this.#signal = signal ? AbortSignal.any([signal]) : new AbortController().signal;
  }

  get url(): string {
    return this.#url;
  }
  get method(): string {
    return this.#method;
  }
  get redirect(): Redirect {
    return this.#manner.redirect as Redirect;
  }
  get signal(): AbortSignal {
    return this.#signal;
  }
  get cache(): string {
    return this.#manner.cache;
  }
  get credentials(): string {
    return this.#manner.credentials;
  }
  get mode(): string {
    return this.#manner.mode;
  }
  get referrer(): string {
    return this.#manner.referrer;
  }
  get referrerPolicy(): string {
    return this.#manner.referrerPolicy;
  }
  get integrity(): string {
    return this.#manner.integrity;
  }
  get keepalive(): boolean {
    return this.#manner.keepalive;
  }
  get destination(): string {
    return "";
  }
  get duplex(): string {
    return "half";
  }
  get isReloadNavigation(): boolean {
    return false;
  }
  get isHistoryNavigation(): boolean {
    return false;
  }

  clone(): Request {
    const body = this[SHARED]();
    return new Request(this.#url, {
      method: this.#method,
      headers: this.headers,
      body: body?.content,
      signal: this.#signal,
      ...this.#manner,
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
