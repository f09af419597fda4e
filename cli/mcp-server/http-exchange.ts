import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Node's request as the web's; its signal aborts when the client hangs up. */
export function webRequest(request: IncomingMessage, response: ServerResponse, origin: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string") headers.set(name, value);
    else for (const one of value ?? []) headers.append(name, one);
  }
  const hungUp = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) hungUp.abort();
  });
  const { method = "GET" } = request;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(request.url ?? "/", origin), {
    method,
    headers,
    signal: hungUp.signal,
    ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
  });
}

/** Sends the web's answer as Node's; a client that hangs up ends it. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  // A stream that waits for its first news must show that it is there.
  response.flushHeaders();
  if (answer.body === null) {
    response.end();
    return;
  }
  const { body } = answer;
  await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), response).catch(() => undefined);
}
