/** WebSocket, whose connection is the broker's: a library of its own. Runs inside the isolate. */

import type { AbortController } from "./abort.ts";
import type { Blob } from "./blob.ts";
import type { Call } from "./broker-call.ts";
import { bytesOf, isBufferSource } from "./buffer-source.ts";
import type { DOMException } from "./dom-exception.ts";
import { handlerProperty } from "./event-handler.ts";
import type { ErrorEvent, Event, EventTarget } from "./events.ts";
import type { messages } from "./message-port.ts";
import type { URL } from "./url.ts";

/** What of the prelude it is made over. */
export type SocketParts = Pick<ReturnType<typeof messages>, "MessageEvent" | "CloseEvent"> & {
  readonly call: Call;
  readonly AbortController: typeof AbortController;
  readonly Blob: typeof Blob;
  readonly Event: typeof Event;
  readonly ErrorEvent: typeof ErrorEvent;
  readonly EventTarget: typeof EventTarget;
  readonly DOMException: typeof DOMException;
  readonly URL: typeof URL;
  readonly base64OfBytes: (bytes: Uint8Array) => string;
  readonly bytesOfBase64: (text: string) => Uint8Array<ArrayBuffer>;
  readonly bytesOfBlob: (blob: Blob) => Uint8Array;
};

const STATES = ["CONNECTING", "OPEN", "CLOSING", "CLOSED"] as const;
const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3] as const;
/** Longest reason of a close, bytes of UTF-8. */
const REASON_LIMIT_BYTES = 123;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Of a connection that ended without goodbye. */
const ABNORMAL_CODE = 1006;

export function webSocket(parts: SocketParts) {
  const { call, DOMException } = parts;

  function address(url: unknown): string {
    const parsed = parts.URL.parse(String(url));
    if (!parsed) throw new DOMException(`Invalid URL: '${String(url)}'`, "SyntaxError");
    if (parsed.protocol === "http:") parsed.protocol = "ws:";
    if (parsed.protocol === "https:") parsed.protocol = "wss:";
    if (parsed.protocol !== "ws:" && parsed.protocol !== "wss:")
      throw new DOMException(
        `Only ws & wss schemes are allowed in a WebSocket URL: received ${parsed.protocol}`,
        "SyntaxError",
      );
    if (parsed.hash !== "" || parsed.href.endsWith("#"))
      throw new DOMException("Fragments are not allowed in a WebSocket URL", "SyntaxError");
    return parsed.href;
  }

  function subprotocols(wanted: unknown): string[] {
    const list =
      typeof wanted === "object" && wanted !== null && Symbol.iterator in wanted
        ? Array.from(wanted as Iterable<unknown>, String)
        : [String(wanted)];
    const distinct = new Set(list.map((one) => one.toLowerCase()));
    if (distinct.size < list.length || !list.every((one) => TOKEN.test(one)))
      throw new DOMException("Cannot supply the same or an illegal protocol", "SyntaxError");
    return list;
  }

  class WebSocket extends parts.EventTarget {
    readonly #url: string;
    readonly #giveUp = new parts.AbortController();
    #socket = 0;
    #state: 0 | 1 | 2 | 3 = CONNECTING;
    #protocol = "";
    #binaryType = "blob";
    #buffered = 0;
    /** What is sent goes out in its order. */
    #sending: Promise<unknown> = Promise.resolve();

    constructor(url: unknown, protocols: unknown = []) {
      super();
      this.#url = address(url);
      void this.#live(subprotocols(protocols));
    }

    get url(): string {
      return this.#url;
    }
    get readyState(): number {
      return this.#state;
    }
    get protocol(): string {
      return this.#protocol;
    }
    get extensions(): string {
      return "";
    }
    get bufferedAmount(): number {
      return this.#buffered;
    }
    get binaryType(): string {
      return this.#binaryType;
    }
    set binaryType(type: unknown) {
      if (type === "blob" || type === "arraybuffer") this.#binaryType = type;
    }

    send(data: unknown): void {
      if (this.#state === CONNECTING) throw new DOMException("'readyState' not OPEN", "InvalidStateError");
      const isBytes = isBufferSource(data) || data instanceof parts.Blob;
      const bytes = isBufferSource(data)
        ? bytesOf(data, "WebSocket.send")
        : data instanceof parts.Blob
          ? parts.bytesOfBlob(data)
          : null;
      const text = bytes ? parts.base64OfBytes(bytes) : String(data).toWellFormed();
      const size = bytes?.length ?? text.length;
      this.#buffered += size;
      if (this.#state !== OPEN) return;
      this.#sending = this.#sending
        .then(() => call("socketSend", { socket: this.#socket, binary: isBytes, data: text }))
        .then(
          () => {
            this.#buffered -= size;
          },
          (error: unknown) => this.#fail(error),
        );
    }

    close(code?: unknown, reason: unknown = ""): void {
      const number = code === undefined ? null : Math.trunc(Number(code));
      if (number !== null && number !== 1000 && !(number >= 3000 && number <= 4999))
        throw new DOMException(
          `The close code must be either 1000 or in the range of 3000 to 4999: received ${String(code)}`,
          "InvalidAccessError",
        );
      const text = String(reason).toWellFormed();
      if (encodeURIComponent(text).replace(/%../g, "-").length > REASON_LIMIT_BYTES)
        throw new DOMException("The close reason is too long", "SyntaxError");
      if (this.#state >= CLOSING) return;
      if (this.#state === CONNECTING) {
        this.#state = CLOSING;
        this.#giveUp.abort();
        return;
      }
      this.#state = CLOSING;
      const closed = { socket: this.#socket, code: number ?? (text === "" ? null : 1000), reason: text };
      this.#sending = this.#sending.then(() => call("socketClose", closed)).catch(() => {});
    }

    async #live(protocols: readonly string[]): Promise<void> {
      try {
        const order = { url: this.#url, protocols: [...protocols] };
        const opened = await call("socketOpen", order, this.#giveUp.signal);
        this.#socket = opened.socket;
        this.#protocol = opened.protocol;
        this.#state = OPEN;
        this.dispatchEvent(new parts.Event("open"));
        for (;;) {
          const news = await call("socketRead", { socket: this.#socket });
          if (news.kind === "close") {
            this.#end(news.code, news.reason, news.clean);
            return;
          }
          this.dispatchEvent(new parts.MessageEvent("message", { data: this.#dataOf(news), origin: this.#origin() }));
        }
      } catch (error) {
        this.#fail(error);
      }
    }

    #dataOf(news: { readonly kind: "text" | "binary"; readonly data: string }): unknown {
      if (news.kind === "text") return news.data;
      const bytes = parts.bytesOfBase64(news.data);
      return this.#binaryType === "arraybuffer" ? bytes.buffer : new parts.Blob([bytes]);
    }

    #origin(): string {
      return new parts.URL(this.#url).origin;
    }

    #fail(error: unknown): void {
      if (this.#state === CLOSED) return;
      this.#state = CLOSED;
      const message = error instanceof Error ? error.message : "";
      this.dispatchEvent(new parts.ErrorEvent("error", { message, error }));
      this.dispatchEvent(new parts.CloseEvent("close", { code: ABNORMAL_CODE, reason: "", wasClean: false }));
    }

    #end(code: number, reason: string, wasClean: boolean): void {
      if (this.#state === CLOSED) return;
      this.#state = CLOSED;
      if (!wasClean) this.dispatchEvent(new parts.ErrorEvent("error", { message: reason }));
      this.dispatchEvent(new parts.CloseEvent("close", { code, reason, wasClean }));
    }

    override get [Symbol.toStringTag](): string {
      return "WebSocket";
    }
  }
  for (const [value, name] of STATES.entries()) {
    Object.defineProperty(WebSocket, name, { value, enumerable: true });
    Object.defineProperty(WebSocket.prototype, name, { value, enumerable: true });
  }
  for (const type of ["open", "message", "error", "close"])
    Object.defineProperty(WebSocket.prototype, `on${type}`, handlerProperty(type));
  return { WebSocket };
}
