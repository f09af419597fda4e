import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { dialHost } from "./dial.ts";
import { portOf, readUrl } from "./fetch-request.ts";
import { clientOver, type ExchangeParts, secure } from "./http-exchange.ts";

/** What comes from the other side. `close` is the last; `code` 1006 when it did not say goodbye. */
export type SocketNews =
  | { readonly kind: "text"; readonly data: string }
  | { readonly kind: "binary"; readonly data: Buffer }
  | { readonly kind: "close"; readonly code: number; readonly reason: string; readonly clean: boolean };

/** One open WebSocket. */
export type EgressSocket = {
  /** The subprotocol that was agreed on; "" for none. */
  readonly protocol: string;
  /** False when more waits to be sent than may; nothing is sent then. */
  send(data: string | Buffer): boolean;
  /** The next that came. One reader at a time; rejects with the signal's reason. */
  read(signal: AbortSignal): Promise<SocketNews>;
  /** Says goodbye; what comes until the answer is still read. */
  close(code: number | undefined, reason: string): void;
  /** Drops the connection at once. */
  destroy(): void;
};

export type SocketOrder = { readonly url: string; readonly protocols: readonly string[] };

/** Largest message each way, and all that may wait, each way, bytes. */
const WAITING_LIMIT_BYTES = 4 * 1024 * 1024;
/** Messages that wait to be read; with more the connection is ended. */
const WAITING_MAX = 1024;
/** What a close frame says of a message that is too large. */
const TOO_LARGE_CODE = 1009;

/** Opens a WebSocket over a connection of its own, to one judged address. No redirect is followed. See `Egress.socket`. */
export async function openSocket(order: SocketOrder, parts: ExchangeParts): Promise<Result<EgressSocket>> {
  const url = readUrl(order.url.replace(/^ws(?=s?:)/i, "http"));
  if (!url.ok) return url;
  const undici = await import("undici");
  const { hostname, protocol } = url.value;
  const dialled = await dialHost(hostname, portOf(url.value), parts);
  const connected = dialled.ok && protocol === "https:" ? await secure(dialled.value, url.value, parts) : dialled;
  if (!connected.ok) return connected;
  const connection = connected.value;
  // It was dialled so that either side may end first; a WebSocket is over when one has.
  connection.once("end", () => connection.end());
  const dispatcher = clientOver(undici.Client, connection, url.value, WAITING_LIMIT_BYTES);
  let socket: InstanceType<typeof undici.WebSocket>;
  try {
    socket = new undici.WebSocket(url.value.href.replace(/^http/, "ws"), {
      protocols: [...order.protocols],
      dispatcher,
    });
  } catch (cause) {
    connection.destroy();
    return fail("invalid", `the subprotocols ${JSON.stringify(order.protocols)} cannot be asked for`, { cause });
  }
  socket.binaryType = "arraybuffer";
  const opened = Promise.withResolvers<boolean>();
  const give = () => void connection.destroy();
  socket.addEventListener("open", () => opened.resolve(true), { once: true });
  socket.addEventListener("error", () => opened.resolve(false), { once: true });
  socket.addEventListener("close", () => opened.resolve(false), { once: true });
  const { signal } = parts.deadline;
  signal.addEventListener("abort", give, { once: true });
  const inbox = openInbox(() => give());
  socket.addEventListener("message", ({ data }) => {
    const known = typeof data === "string" ? data : Buffer.from(data as ArrayBuffer);
    inbox.put(typeof known === "string" ? { kind: "text", data: known } : { kind: "binary", data: known });
  });
  socket.addEventListener("close", ({ code, reason, wasClean }) => {
    inbox.end({ kind: "close", code, reason, clean: wasClean });
    give();
  });
  if (signal.aborted) give();
  const isOpen = await opened.promise;
  signal.removeEventListener("abort", give);
  if (!isOpen) {
    give();
    if (signal.aborted) return fail("cancelled", `the WebSocket to ${url.value.host} was given up, or took too long`);
    return fail("unavailable", `${url.value.host} does not speak WebSocket with us`);
  }
  return ok({
    protocol: socket.protocol,
    send(data) {
      const size = typeof data === "string" ? Buffer.byteLength(data) : data.length;
      if (socket.bufferedAmount + size > WAITING_LIMIT_BYTES) return false;
      socket.send(typeof data === "string" ? data : new Uint8Array(data));
      return true;
    },
    read: inbox.read,
    close(code, reason) {
      if (code === undefined) socket.close();
      else socket.close(code, reason);
    },
    destroy: give,
  });
}

type Inbox = {
  put(news: SocketNews): void;
  end(news: SocketNews): void;
  read(signal: AbortSignal): Promise<SocketNews>;
};

function sizeOf(news: SocketNews): number {
  return news.kind === "close" ? 0 : news.data.length;
}

/** @param overflow ends the connection: a stranger that sends more than is read shall not fill the daemon */
function openInbox(overflow: () => void): Inbox {
  const waiting: SocketNews[] = [];
  let bytes = 0;
  let last: SocketNews | undefined;
  let reader: ((news: SocketNews) => void) | undefined;

  function hand(): void {
    const next = reader && (waiting.shift() ?? last);
    if (!reader || !next) return;
    bytes -= sizeOf(next);
    const heard = reader;
    reader = undefined;
    heard(next);
  }

  return {
    put(news) {
      if (last) return;
      bytes += sizeOf(news);
      waiting.push(news);
      hand();
      if (bytes <= WAITING_LIMIT_BYTES && waiting.length <= WAITING_MAX) return;
      last = { kind: "close", code: TOO_LARGE_CODE, reason: "more than was read", clean: false };
      overflow();
    },
    end(news) {
      last ??= news;
      hand();
    },
    read(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted || reader) {
          reject(signal.aborted ? signal.reason : new Error("it is being read already"));
          return;
        }
        const stop = () => {
          reader = undefined;
          reject(signal.reason);
        };
        signal.addEventListener("abort", stop, { once: true });
        reader = (news) => {
          signal.removeEventListener("abort", stop);
          resolve(news);
        };
        hand();
      });
    },
  };
}
