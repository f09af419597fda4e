import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { FetchAnswer, FetchOrder } from "../guest/guest-protocol.ts";
import type { DialParts } from "./dial.ts";
import { codingsOf, readBody } from "./fetch-body.ts";
import { followRedirect, redirectOf } from "./fetch-redirect.ts";
import { type FetchRequest, readOrder } from "./fetch-request.ts";
import { brokeOff, type Exchange, type ExchangeParts, exchange } from "./http-exchange.ts";

const REDIRECTS_LIMIT = 5;

/** One fetch with its redirects. Each hop is judged, looked up and dialled anew, on a connection of its own. */
export async function fetchHops(order: FetchOrder, parts: ExchangeParts): Promise<Result<FetchAnswer>> {
  const first = readOrder(order);
  if (!first.ok) return first;
  let request = first.value;
  for (let redirects = 0; ; redirects += 1) {
    const hop = await exchange(request, parts);
    if (!hop.ok) return hop;
    try {
      const { status, headers } = hop.value;
      const location = order.redirect === "manual" ? undefined : redirectOf(status, headers);
      if (location === undefined) return await readAnswer(request, hop.value, redirects > 0, parts);
      if (order.redirect === "error") return fail("invalid", `${request.url.host} redirects, which was not asked for`);
      if (redirects === REDIRECTS_LIMIT)
        return fail("invalid", `${request.url.host} redirects once more after ${REDIRECTS_LIMIT} times`);
      const next = followRedirect(request, status, location);
      if (!next.ok) return next;
      request = next.value;
    } finally {
      hop.value.close();
    }
  }
}

async function readAnswer(
  { url, method }: FetchRequest,
  { status, statusText, headers, body }: Exchange,
  redirected: boolean,
  parts: DialParts,
): Promise<Result<FetchAnswer>> {
  const codings = method === "HEAD" ? undefined : codingsOf(headers);
  let read: Result<Buffer>;
  try {
    read = await readBody(body, codings ?? []);
  } catch (cause) {
    return brokeOff(url, parts, cause);
  }
  if (!read.ok) return read;
  const isUnpacked = codings !== undefined && codings.length > 0;
  const place = new URL(url);
  place.hash = "";
  return ok({
    url: place.href,
    redirected,
    status,
    statusText,
    // They described the body as it was packed.
    headers: headers.filter(([name]) => !(isUnpacked && (name === "content-encoding" || name === "content-length"))),
    body: read.value.toString("base64"),
  });
}
