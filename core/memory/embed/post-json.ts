import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";

export type JsonPost = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole exchange, milliseconds: a server that drips is as late as one that is silent. */
  readonly timeoutMs: number;
  /** The longest answer that is read. */
  readonly limitBytes: number;
};

export type Posted = {
  readonly status: number;
  /** How long the server asked to be left alone, milliseconds; undefined when it did not say. */
  readonly retryAfterMs: number | undefined;
  /** Of an answer that is no success just the beginning. */
  readonly text: string;
};

/** Of an answer that tells of an error no more is read. */
const ERROR_LIMIT_BYTES = 16_384;

/** The answer was longer than what is read. No second try makes it shorter. */
export class AnswerTooLong extends Error {}

/**
 * One POST. Redirects are not followed: they would carry the key to another host. Rejects with the network's own error,
 * with the signal's reason, or with `AnswerTooLong`.
 */
export async function postJson(post: JsonPost, signal: AbortSignal): Promise<Posted> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(post.timeoutMs)]);
  // Loaded at the first need: a daemon without such a service never does.
  const { request } = post.url.startsWith("https:") ? await import("node:https") : await import("node:http");
  try {
    const incoming = await begin(request, post, deadline);
    return await readAnswer(incoming, post.limitBytes);
  } catch (cause) {
    throw deadline.aborted ? deadline.reason : cause;
  }
}

type Request = (url: string, options: RequestOptions) => ClientRequest;

function begin(request: Request, post: JsonPost, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const body = Buffer.from(post.body);
  const headers = { ...post.headers, "content-type": "application/json", "content-length": body.byteLength };
  const outgoing = request(post.url, { method: "POST", headers, signal });
  outgoing.on("response", resolve);
  outgoing.on("error", (cause) => {
    // A connection kept from before can end at the very moment it is used; that says nothing about the server.
    const stale = outgoing.reusedSocket && "code" in cause && cause.code === "ECONNRESET" && !signal.aborted;
    if (stale) begin(request, post, signal).then(resolve, reject);
    else reject(cause);
  });
  outgoing.end(body);
  return promise;
}

async function readAnswer(incoming: IncomingMessage, limitBytes: number): Promise<Posted> {
  const status = incoming.statusCode ?? 0;
  const fine = isSuccess(status);
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early ends the connection.
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (fine && bytes > limitBytes) throw new AnswerTooLong(`the answer is longer than ${limitBytes} bytes`);
    pieces.push(piece);
    if (!fine && bytes >= ERROR_LIMIT_BYTES) break;
  }
  const text = Buffer.concat(pieces).toString("utf8");
  return { status, retryAfterMs: readRetryAfter(incoming.headers), text };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Seconds, or a moment, which is measured by the server's own clock. */
function readRetryAfter(headers: IncomingMessage["headers"]): number | undefined {
  const told = headers["retry-after"];
  if (told === undefined || told === "") return undefined;
  const seconds = Number(told);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(told) - Date.parse(headers.date ?? "");
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
