import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { FetchOrder } from "../guest/guest-protocol.ts";
import { BAD_PORTS } from "./bad-ports.ts";

/** Largest body, each way; an answer's is counted after it is unpacked. */
export const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** All names and values of one request's headers. */
const HEADERS_LIMIT_CHARS = 64 * 1024;
const URL_LIMIT_CHARS = 64 * 1024;

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** No control characters but the tab, and one byte each. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const FORBIDDEN_METHODS = new Set(["CONNECT", "TRACE", "TRACK"]);
/** They belong to the connection and its framing, which are ours. */
const FORBIDDEN_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const DEFAULT_HEADERS = [
  ["accept", "*/*"],
  ["accept-language", "*"],
  ["user-agent", "clawd"],
] as const;

export type Headers = readonly (readonly [string, string])[];

/** A request as it goes out, checked. Names of headers are in lower case. */
export type FetchRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Buffer | undefined;
};

/** Reads an order, which is a stranger's. `invalid` or `exhausted` when no such request is made. */
export function readOrder(order: FetchOrder): Result<FetchRequest> {
  const url = readUrl(order.url);
  if (!url.ok) return url;
  const { method } = order;
  if (!TOKEN.test(method) || FORBIDDEN_METHODS.has(method.toUpperCase()))
    return fail("invalid", `the method ${JSON.stringify(method.slice(0, 40))} is not one that can be asked for`);
  const headers = readHeaders(order.headers);
  if (!headers.ok) return headers;
  if (order.body === null) return ok({ url: url.value, method, headers: headers.value, body: undefined });
  if (method === "GET" || method === "HEAD") return fail("invalid", `a ${method} request has no body`);
  const body = Buffer.from(order.body, "base64");
  if (body.byteLength > BODY_LIMIT_BYTES)
    return fail("exhausted", `the body of ${body.byteLength} bytes is larger than ${BODY_LIMIT_BYTES}`);
  return ok({ url: url.value, method, headers: headers.value, body });
}

/** Parses once; only what was parsed is used afterwards. */
export function readUrl(text: string, base?: URL): Result<URL> {
  const shown = JSON.stringify(text.slice(0, 200));
  if (text.length > URL_LIMIT_CHARS) return fail("exhausted", `the URL ${shown}… is too long`);
  const url = URL.parse(text, base?.href);
  if (!url) return fail("invalid", `${shown} is not a URL`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return fail("invalid", `${shown} is neither an http nor an https URL`);
  if (url.username !== "" || url.password !== "")
    return fail("invalid", `the URL for ${url.host} has a user name or password in it`, {
      hint: "send them in the authorization header",
    });
  if (BAD_PORTS.has(portOf(url))) return fail("invalid", `the port ${url.port} is not one for http`);
  return ok(url);
}

export function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function readHeaders(given: Headers): Result<Headers> {
  const kept: (readonly [string, string])[] = [];
  let chars = 0;
  for (const [name, value] of given) {
    const known = name.toLowerCase();
    const trimmed = value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "");
    chars += name.length + trimmed.length;
    if (chars > HEADERS_LIMIT_CHARS) return fail("exhausted", "the headers are too large");
    if (!TOKEN.test(name) || !HEADER_VALUE.test(trimmed))
      return fail("invalid", `the header ${JSON.stringify(name.slice(0, 40))} has an illegal character`);
    if (!FORBIDDEN_HEADERS.has(known) && !known.startsWith("proxy-")) kept.push([known, trimmed]);
  }
  const has = (name: string) => kept.some(([one]) => one === name);
  // What is fetched in parts cannot be unpacked.
  const packed = [["accept-encoding", has("range") ? "identity" : "gzip, br"] as const];
  return ok([...kept, ...[...DEFAULT_HEADERS, ...packed].filter(([name]) => !has(name))]);
}
