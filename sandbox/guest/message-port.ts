/** MessageChannel, and the events that tell of messages: a library of its own. Runs inside the isolate. */

import type { DOMException } from "./dom-exception.ts";
import { handlerProperty } from "./event-handler.ts";
import type { Event, EventOptions, EventTarget } from "./events.ts";
import type { cloneAndMove, MOVED, Move } from "./guest-clone.ts";
import { showMembers } from "./shown-members.ts";

/** What of the prelude it is made over. */
export type MessageParts = {
  readonly Event: typeof Event;
  readonly EventTarget: typeof EventTarget;
  readonly DOMException: typeof DOMException;
  readonly cloneAndMove: typeof cloneAndMove;
  /** The method that says how an object moves. */
  readonly moved: typeof MOVED;
  readonly eventMembers: readonly string[];
  /** Runs something once what runs now has ended; the guest is not over before it. */
  readonly later: (run: () => void) => void;
};

type MessageOptions = EventOptions & {
  data?: unknown;
  origin?: unknown;
  lastEventId?: unknown;
  source?: unknown;
  ports?: Iterable<unknown>;
};
type CloseOptions = EventOptions & { wasClean?: unknown; code?: unknown; reason?: unknown };
type RejectionOptions = EventOptions & { promise?: unknown; reason?: unknown };

/** Messages that wait in one port at most. */
const WAITING_MAX = 10_000;
const KEY = {};

export function messages({ Event, EventTarget, DOMException, cloneAndMove, moved, later, eventMembers }: MessageParts) {
  class MessageEvent extends Event {
    readonly #options: MessageOptions;
    readonly #ports: readonly unknown[];

    constructor(type: unknown, options: MessageOptions | null = {}) {
      super(type, options);
      this.#options = options ?? {};
      this.#ports = Object.freeze([...(this.#options.ports ?? [])]);
    }

    get data(): unknown {
      return this.#options.data ?? null;
    }
    get origin(): string {
      return String(this.#options.origin ?? "");
    }
    get lastEventId(): string {
      return String(this.#options.lastEventId ?? "");
    }
    get source(): unknown {
      return this.#options.source ?? null;
    }
    get ports(): readonly unknown[] {
      return this.#ports;
    }
    override get [Symbol.toStringTag](): string {
      return "MessageEvent";
    }
  }

  class CloseEvent extends Event {
    readonly #options: CloseOptions;

    constructor(type: unknown, options: CloseOptions | null = {}) {
      super(type, options);
      this.#options = { ...options };
    }

    get wasClean(): boolean {
      return Boolean(this.#options.wasClean);
    }
    get code(): number {
      return Number(this.#options.code ?? 0) & 0xffff;
    }
    get reason(): string {
      return String(this.#options.reason ?? "");
    }
    override get [Symbol.toStringTag](): string {
      return "CloseEvent";
    }
  }

  class PromiseRejectionEvent extends Event {
    readonly #options: RejectionOptions;

    constructor(type: unknown, options: RejectionOptions) {
      if (typeof options !== "object" || options === null || options.promise === undefined)
        throw new TypeError("a PromiseRejectionEvent needs a promise");
      super(type, options);
      this.#options = { ...options };
    }

    get promise(): unknown {
      return this.#options.promise;
    }
    get reason(): unknown {
      return this.#options.reason;
    }
    override get [Symbol.toStringTag](): string {
      return "PromiseRejectionEvent";
    }
  }

  /** One end of a channel; it moves from port to port when a port is transferred. */
  type End = { port: MessagePort | null; other: End | null; started: boolean; waiting: MessageEvent[] };
  let bind: (port: MessagePort, end: End) => void;

  function deliver(end: End): void {
    const event = end.started && end.port ? end.waiting.shift() : undefined;
    if (!event) return;
    const { port } = end;
    // The next one has its own turn, whatever becomes of this one.
    if (end.waiting.length > 0) later(() => deliver(end));
    port?.dispatchEvent(event);
  }

  class MessagePort extends EventTarget {
    #end: End | null = null;

    static {
      bind = (port, end) => {
        port.#end = end;
        end.port = port;
      };
    }

    constructor(key?: object) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      super();
    }

    postMessage(message: unknown, options: Iterable<unknown> | { transfer?: Iterable<unknown> } | null = []): void {
      if (arguments.length === 0) throw new TypeError("postMessage takes a message");
      const listed = typeof options === "object" && options !== null && Symbol.iterator in options;
      const transfer = [...(listed ? options : (options?.transfer ?? []))];
      if (transfer.includes(this)) throw new DOMException("a port cannot be sent through itself", "DataCloneError");
      const other = this.#end?.other ?? null;
      if (other && other.waiting.length >= WAITING_MAX)
        throw new DOMException(`more than ${WAITING_MAX} messages wait in the port`, "QuotaExceededError");
      const { copy, moved } = cloneAndMove(message, transfer);
      if (!other) return;
      const ports = moved.filter((item) => item instanceof MessagePort);
      other.waiting.push(new MessageEvent("message", { data: copy, ports }));
      if (other.started && other.waiting.length === 1) later(() => deliver(other));
    }

    start(): void {
      const end = this.#end;
      if (!end || end.started) return;
      end.started = true;
      if (end.waiting.length > 0) later(() => deliver(end));
    }

    close(): void {
      const other = this.#end?.other;
      if (this.#end) {
        this.#end.port = null;
        this.#end.waiting.length = 0;
      }
      this.#end = null;
      if (!other) return;
      other.other = null;
      later(() => other.port?.dispatchEvent(new Event("close")));
    }

    [moved](): Move {
      const end = this.#end;
      if (!end) throw new DOMException("a closed port cannot be transferred", "DataCloneError");
      const copy = new MessagePort(KEY);
      const leave = () => {
        this.#end = null;
        end.started = false;
        bind(copy, end);
      };
      return { copy, leave };
    }

    override get [Symbol.toStringTag](): string {
      return "MessagePort";
    }
  }
  const onmessage = handlerProperty("message");
  Object.defineProperties(MessagePort.prototype, {
    // To set the handler starts the port, as the standard has it.
    onmessage: {
      ...onmessage,
      set(this: MessagePort, value: unknown) {
        onmessage.set?.call(this, value);
        this.start();
      },
    },
    onmessageerror: handlerProperty("messageerror"),
    onclose: handlerProperty("close"),
  });

  class MessageChannel {
    readonly #port1 = new MessagePort(KEY);
    readonly #port2 = new MessagePort(KEY);

    constructor() {
      const one: End = { port: null, other: null, started: false, waiting: [] };
      const two: End = { port: null, other: one, started: false, waiting: [] };
      one.other = two;
      bind(this.#port1, one);
      bind(this.#port2, two);
    }

    get port1(): MessagePort {
      return this.#port1;
    }
    get port2(): MessagePort {
      return this.#port2;
    }
    get [Symbol.toStringTag](): string {
      return "MessageChannel";
    }
  }

  showMembers(MessageEvent, [...eventMembers, "data", "origin", "lastEventId"]);
  showMembers(CloseEvent, [...eventMembers, "wasClean", "code", "reason"]);
  showMembers(PromiseRejectionEvent, [...eventMembers, "promise", "reason"]);
  return { CloseEvent, MessageChannel, MessageEvent, MessagePort, PromiseRejectionEvent };
}
