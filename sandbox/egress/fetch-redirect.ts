import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { type FetchRequest, readUrl } from "./fetch-request.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** They say who is asking; another origin does not learn it. */
const PERSONAL_HEADERS = new Set(["authorization", "cookie"]);

/** Where an answer sends on to; undefined when it does not. */
export function redirectOf(status: number, headers: readonly (readonly [string, string])[]): string | undefined {
  return REDIRECTS.has(status) ? headers.find(([name]) => name === "location")?.[1] : undefined;
}

/** The next request of a chain, as the fetch standard has it. `invalid` for a place that is not fetched from. */
export function followRedirect(request: FetchRequest, status: number, location: string): Result<FetchRequest> {
  const url = readUrl(location, request.url);
  if (!url.ok)
    return fail("invalid", `${request.url.host} redirects to a place that is not fetched: ${url.failure.message}`);
  const toGet =
    ((status === 301 || status === 302) && request.method === "POST") ||
    (status === 303 && request.method !== "GET" && request.method !== "HEAD");
  const isAbroad = url.value.origin !== request.url.origin;
  const headers = request.headers.filter(
    ([name]) => !(isAbroad && PERSONAL_HEADERS.has(name)) && !(toGet && name.startsWith("content-")),
  );
  return ok({
    url: url.value,
    method: toGet ? "GET" : request.method,
    headers,
    body: toGet ? undefined : request.body,
  });
}
