/** Response. Runs inside the isolate. */

import { Body, newHeaders, payloadOf, SHARED } from "./body.ts";
import { freezeHeaders } from "./headers.ts";
import { showMembers } from "./shown-members.ts";
import { parseUrl } from "./url-library.ts";

type ResponseInit = { status?: unknown; statusText?: unknown; headers?: unknown };
type Kind = "default" | "error" | "basic";

const NO_BODY = [101, 103, 204, 205, 304];
const REDIRECTS = [301, 302, 303, 307, 308];

function statusOf(status: unknown): number {
  const number = Math.trunc(Number(status));
  if (!(number >= 200 && number <= 599))
    throw new RangeError(
      `The status provided (${String(status)}) is not equal to 101 and outside the range [200, 599]`,
    );
  return number;
}

function statusTextOf(text: unknown): string {
  const value = String(text);
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new TypeError(`"${value}" is not a legal status text`);
  return value;
}

/** A response that came from a server. */
export let receivedResponse: (
  body: Uint8Array<ArrayBuffer> | null,
  facts: {
    url: string;
    redirected: boolean;
    status: number;
    statusText: string;
    headers: Iterable<readonly [string, string]>;
  },
) => Response;

export class Response extends Body {
  #status = 200;
  #statusText = "";
  #url = "";
  #redirected = false;
  #type: Kind = "default";

  static {
    receivedResponse = (body, facts) => {
      const response = new Response(NO_BODY.includes(facts.status) ? null : body, { headers: facts.headers });
      response.#status = facts.status;
      response.#statusText = facts.statusText;
      response.#url = facts.url;
      response.#redirected = facts.redirected;
      response.#type = "basic";
      freezeHeaders(response.headers);
      return response;
    };
  }

  constructor(body: unknown = null, init: ResponseInit | null = {}) {
    const status = init?.status === undefined ? 200 : statusOf(init.status);
    const statusText = init?.statusText === undefined ? "" : statusTextOf(init.statusText);
    const payload = payloadOf(body);
    if (payload && NO_BODY.includes(status)) throw new TypeError("Response with null body status cannot have body");
    super(payload, newHeaders(init?.headers));
    this.#status = status;
    this.#statusText = statusText;
  }

  static error(): Response {
    const response = new Response();
    response.#status = 0;
    response.#type = "error";
    freezeHeaders(response.headers);
    return response;
  }

  static json(data: unknown, init: ResponseInit | null = {}): Response {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("The value is not JSON serializable");
    const headers = newHeaders(init?.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(text, { ...init, headers });
  }

  static redirect(url: unknown, status: unknown = 302): Response {
    const { href } = parseUrl(url, "Response.redirect");
    const code = Number(status);
    if (!REDIRECTS.includes(code))
      throw new RangeError("The redirection status must be one of 301, 302, 303, 307, or 308.");
    const response = new Response(null, { status: code, headers: [["location", href]] });
    freezeHeaders(response.headers);
    return response;
  }

  get status(): number {
    return this.#status;
  }
  get statusText(): string {
    return this.#statusText;
  }
  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }
  get url(): string {
    return this.#url;
  }
  get redirected(): boolean {
    return this.#redirected;
  }
  get type(): Kind {
    return this.#type;
  }

  clone(): Response {
    const body = this[SHARED]();
    const copy = new Response(body?.content ?? null, { headers: this.headers });
    copy.#status = this.#status;
    copy.#statusText = this.#statusText;
    copy.#url = this.#url;
    copy.#redirected = this.#redirected;
    copy.#type = this.#type;
    return copy;
  }

  get [Symbol.toStringTag](): string {
    return "Response";
  }
}

showMembers(Response, ["body", "bodyUsed", "headers", "ok", "redirected", "status", "statusText", "url"]);
