/** fetch, which the broker does. Runs inside the isolate. */

import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Call } from "./broker-call.ts";
import { readDataUrl } from "./data-url.ts";
import { headerPairs } from "./headers.ts";
import { bytesOfRequest, Request, type RequestInit } from "./request.ts";
import { type Response, receivedResponse } from "./response.ts";

function dataResponse(url: string): Response {
  const data = readDataUrl(url);
  if (!data) throw new TypeError("Fetch failed: the data URL cannot be read");
  const headers = [["content-type", data.type]] as const;
  return receivedResponse(data.bytes, { url, redirected: false, status: 200, statusText: "OK", headers });
}

export function guestFetch(call: Call): (input: unknown, init?: RequestInit | null) => Promise<Response> {
  return async function fetch(input: unknown, init?: RequestInit | null): Promise<Response> {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    if (request.url.startsWith("data:")) return dataResponse(request.url);
    const bytes = await bytesOfRequest(request);
    const order = {
      url: request.url,
      method: request.method,
      headers: headerPairs(request.headers),
      body: bytes && base64OfBytes(bytes),
      redirect: request.redirect,
    };
    const { body, ...facts } = await call("fetch", order, request.signal);
    return receivedResponse(bytesOfBase64(body), facts);
  };
}
