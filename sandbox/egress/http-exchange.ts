import { isIP, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { connect as connectTls, getCACertificates } from "node:tls";
import type { Client } from "undici";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type DialParts, dialHost, gaveUp } from "./dial.ts";
import { type FetchRequest, type Headers, portOf } from "./fetch-request.ts";

export type ExchangeParts = DialParts & { readonly extraCa?: string };

/** The head of an answer; names of headers are in lower case. `close` ends its connection, and must be called. */
export type Exchange = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly body: Readable;
  close(): void;
};

/** Sends one request over a connection of its own, which nobody used before it and nobody uses after it. */
export async function exchange(request: FetchRequest, parts: ExchangeParts): Promise<Result<Exchange>> {
  const { url, method, headers, body } = request;
  // Loaded late, because most daemons fetch nothing, but not while a connection waits for it.
  const undici = await import("undici");
  const dialled = await dialHost(url.hostname, portOf(url), parts);
  const connected = dialled.ok && url.protocol === "https:" ? await secure(dialled.value, url, parts) : dialled;
  if (!connected.ok) return connected;
  const socket = connected.value;
  const close = () => void socket.destroy();
  try {
    const client = clientOver(undici.Client, socket, url);
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method: method as "GET",
      headers: headers.flat(),
      body: body ?? null,
      signal: parts.deadline.signal,
      responseHeaders: "raw",
    });
    return ok({
      status: answer.statusCode,
      statusText: answer.statusText,
      headers: pairs(answer.headers as unknown as readonly string[]),
      body: answer.body,
      close,
    });
  } catch (cause) {
    close();
    return brokeOff(url, parts, cause);
  }
}

/** An exchange that came to no end: by the deadline, or by what the other side did to the connection or the protocol. */
export function brokeOff(url: URL, { deadline }: DialParts, cause: unknown): Failed {
  if (deadline.signal.aborted) return gaveUp(`the fetch from ${url.host}`, deadline, cause);
  const { code, message } = cause as NodeJS.ErrnoException;
  return fail("unavailable", `${url.host} broke off (${code ?? message})`, { cause });
}

/** @param messageBytes largest message of a WebSocket */
export function clientOver(create: typeof Client, socket: Socket, url: URL, messageBytes = 0): Client {
  let isTaken = false;
  return new create(url.origin, {
    allowH2: false,
    webSocket: { maxPayloadSize: messageBytes },
    // One deadline holds for all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Once: a lost connection is not made again, because another one was not judged.
    connect(_, callback) {
      // Later, because undici does not know yet that it is connecting.
      if (isTaken) process.nextTick(callback, new Error("the connection was lost"), null);
      else process.nextTick(callback, null, socket);
      isTaken = true;
    },
  });
}

/** The certificate is judged by the host's name as it was asked for, whatever address was dialled. */
export function secure(socket: Socket, url: URL, parts: ExchangeParts): Promise<Result<Socket>> {
  const { extraCa, deadline } = parts;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const secured = connectTls({
      socket,
      host,
      ALPNProtocols: ["http/1.1"],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(extraCa === undefined ? {} : { ca: [...getCACertificates("default"), extraCa] }),
    });
    const stop = () => secured.destroy(new Error("given up"));
    const end = (result: Result<Socket>) => {
      deadline.signal.removeEventListener("abort", stop);
      if (!result.ok) socket.destroy();
      resolve(result);
    };
    secured.on("error", (cause: NodeJS.ErrnoException) => {
      if (deadline.signal.aborted) return end(brokeOff(url, parts, cause));
      const why = `${host} cannot be spoken to securely (${cause.code ?? cause.message})`;
      end(fail("unavailable", why, { cause }));
    });
    secured.once("secureConnect", () => end(ok(secured)));
    deadline.signal.addEventListener("abort", stop, { once: true });
    if (deadline.signal.aborted) stop();
  });
}

function pairs(raw: readonly string[]): Headers {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""]);
  return found;
}
