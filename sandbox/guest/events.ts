/** Event and EventTarget, as the DOM standard has them outside of a document. Runs inside the isolate. */

import { DOMException } from "./dom-exception.ts";
import { elapsedMs } from "./performance.ts";
import { showMembers } from "./shown-members.ts";

export type EventOptions = { bubbles?: boolean; cancelable?: boolean; composed?: boolean };
type Listener = {
  readonly type: string;
  readonly callback: object;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
};
export type ListenOptions =
  | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortTarget }
  | boolean
  | null;
/** The part of an AbortSignal that a listener needs. */
type AbortTarget = EventTarget & { readonly aborted: boolean };

const { apply } = Reflect;

/** Listeners at most on one target: a loop that adds and never removes shall be told. */
const LISTENERS_MAX = 10_000;

let report: (error: unknown) => void = () => {};

/** Errors of listeners go here: they must not keep the others from being heard. */
export function reportListenerErrors(to: (error: unknown) => void): void {
  report = to;
}

/** Set by `dispatchEvent`, which is the only one that may. */
type Flight = {
  dispatching: boolean;
  passive: boolean;
  stopped: boolean;
  stoppedNow: boolean;
  canceled: boolean;
  target: EventTarget | null;
  phase: number;
};

let flightOf: (event: Event) => Flight;

export class Event {
  readonly #type: string;
  readonly #bubbles: boolean;
  readonly #cancelable: boolean;
  readonly #composed: boolean;
  readonly #timeStamp: number;
  readonly #flight: Flight = {
    dispatching: false,
    passive: false,
    stopped: false,
    stoppedNow: false,
    canceled: false,
    target: null,
    phase: 0,
  };

  static {
    flightOf = (event) => event.#flight;
  }

  constructor(type: unknown, options: EventOptions | null = {}) {
    if (arguments.length === 0) throw new TypeError("an event needs a type");
    this.#type = String(type);
    this.#bubbles = Boolean(options?.bubbles);
    this.#cancelable = Boolean(options?.cancelable);
    this.#composed = Boolean(options?.composed);
    this.#timeStamp = elapsedMs();
  }

  get type(): string {
    return this.#type;
  }
  get target(): EventTarget | null {
    return this.#flight.target;
  }
  get srcElement(): EventTarget | null {
    return this.#flight.target;
  }
  get currentTarget(): EventTarget | null {
    return this.#flight.dispatching ? this.#flight.target : null;
  }
  get eventPhase(): number {
    return this.#flight.phase;
  }
  get bubbles(): boolean {
    return this.#bubbles;
  }
  get cancelable(): boolean {
    return this.#cancelable;
  }
  get composed(): boolean {
    return this.#composed;
  }
  get timeStamp(): number {
    return this.#timeStamp;
  }
  get isTrusted(): boolean {
    return false;
  }
  get defaultPrevented(): boolean {
    return this.#flight.canceled;
  }
  get returnValue(): boolean {
    return !this.#flight.canceled;
  }
  get cancelBubble(): boolean {
    return this.#flight.stopped;
  }
  set cancelBubble(stop: boolean) {
    if (stop) this.#flight.stopped = true;
  }

  composedPath(): EventTarget[] {
    return this.#flight.dispatching && this.#flight.target ? [this.#flight.target] : [];
  }
  preventDefault(): void {
    if (this.#cancelable && !this.#flight.passive) this.#flight.canceled = true;
  }
  stopPropagation(): void {
    this.#flight.stopped = true;
  }
  stopImmediatePropagation(): void {
    this.#flight.stopped = true;
    this.#flight.stoppedNow = true;
  }

  get [Symbol.toStringTag](): string {
    return "Event";
  }
}

for (const [phase, name] of ["NONE", "CAPTURING_PHASE", "AT_TARGET", "BUBBLING_PHASE"].entries()) {
  Object.defineProperty(Event, name, { value: phase, enumerable: true });
  Object.defineProperty(Event.prototype, name, { value: phase, enumerable: true });
}

/** What a printed event shows, before what its class adds. */
export const EVENT_MEMBERS = [
  "bubbles",
  "cancelable",
  "composed",
  "currentTarget",
  "defaultPrevented",
  "eventPhase",
  "srcElement",
  "target",
  "returnValue",
  "timeStamp",
  "type",
];
showMembers(Event, EVENT_MEMBERS);

function call(listener: Listener, target: EventTarget, event: Event): void {
  try {
    const { callback } = listener;
    if (typeof callback === "function") apply(callback, target, [event]);
    else {
      const { handleEvent } = callback as { handleEvent?: unknown };
      if (typeof handleEvent !== "function") throw new TypeError("an event listener needs a function handleEvent");
      apply(handleEvent, callback, [event]);
    }
  } catch (error) {
    report(error);
  }
}

/** A name that no code of the guest's meets. */
export const LISTENING = Symbol("listening");

const realm = globalThis;
/** Of the global object, which is a target that the class did not make. */
const globalListeners: Listener[] = [];
let ownListeners: (target: object) => Listener[] | undefined;

/** A method that is called by its bare name is the global object's. */
function targetOf(receiver: unknown): EventTarget {
  return (receiver ?? realm) as EventTarget;
}

function listenersOf(target: EventTarget): Listener[] {
  const own = ownListeners(target);
  if (own) return own;
  if ((target as object) !== realm) throw new TypeError("Illegal invocation");
  return globalListeners;
}

function findListener(target: EventTarget, type: string, callback: unknown, capture: boolean): Listener | undefined {
  return listenersOf(target).find(
    (one) => one.type === type && one.callback === callback && one.capture === capture && !one.removed,
  );
}

function tellCount(target: EventTarget, count: number): void {
  if ((target as object) !== realm) target[LISTENING](count);
}

function removeListener(target: EventTarget, listener: Listener): void {
  listener.removed = true;
  const listeners = listenersOf(target);
  const at = listeners.indexOf(listener);
  if (at < 0) return;
  listeners.splice(at, 1);
  tellCount(target, listeners.length);
}

/** Whether anybody would hear an event of that type. */
export function isHeard(target: object, type: string): boolean {
  return listenersOf(target as EventTarget).some((one) => one.type === type);
}

/** What `dispatchEvent` does, whatever became of that. */
export function dispatch(target: object, event: unknown): boolean {
  const at = target as EventTarget;
  const listeners = listenersOf(at);
  if (!(event instanceof Event)) throw new TypeError("dispatchEvent takes an Event");
  const flight = flightOf(event);
  if (flight.dispatching) throw new DOMException("the event is being dispatched already", "InvalidStateError");
  flight.dispatching = true;
  flight.target = at;
  flight.phase = 2;
  // Without a tree of targets there is no capturing: they are heard as they came.
  for (const listener of listeners.filter((one) => one.type === event.type)) {
    if (flight.stoppedNow) break;
    if (listener.removed) continue;
    if (listener.once) removeListener(at, listener);
    flight.passive = listener.passive;
    call(listener, at, event);
    flight.passive = false;
  }
  flight.dispatching = false;
  flight.stopped = false;
  flight.stoppedNow = false;
  flight.phase = 0;
  return !flight.canceled;
}

export class EventTarget {
  readonly #listeners: Listener[] = [];

  static {
    ownListeners = (target) => (#listeners in target ? target.#listeners : undefined);
  }

  addEventListener(type: unknown, callback: unknown, options: ListenOptions = {}): void {
    const target = targetOf(this);
    const listeners = listenersOf(target);
    const bag = typeof options === "object" && options !== null ? options : { capture: Boolean(options) };
    const { signal } = bag;
    if (callback === null || callback === undefined) return;
    if (typeof callback !== "function" && typeof callback !== "object")
      throw new TypeError("an event listener is a function or an object with handleEvent");
    if (signal?.aborted) return;
    const capture = Boolean(bag.capture);
    if (findListener(target, String(type), callback, capture)) return;
    if (listeners.length >= LISTENERS_MAX) throw new RangeError(`more than ${LISTENERS_MAX} listeners on one target`);
    const listener = {
      type: String(type),
      callback,
      capture,
      once: Boolean(bag.once),
      passive: Boolean(bag.passive),
      removed: false,
    };
    listeners.push(listener);
    tellCount(target, listeners.length);
    signal?.addEventListener("abort", () => removeListener(target, listener), { once: true });
  }

  removeEventListener(type: unknown, callback: unknown, options: ListenOptions = {}): void {
    const target = targetOf(this);
    const capture = Boolean(typeof options === "object" && options !== null ? options.capture : options);
    const found = findListener(target, String(type), callback, capture);
    if (found) removeListener(target, found);
  }

  dispatchEvent(event: unknown): boolean {
    return dispatch(targetOf(this), event);
  }

  /** Told of the number of listeners whenever it changes. */
  [LISTENING](_count: number): void {}

  get [Symbol.toStringTag](): string {
    return "EventTarget";
  }
}

export class CustomEvent extends Event {
  readonly #detail: unknown;

  constructor(type: unknown, options: (EventOptions & { detail?: unknown }) | null = {}) {
    super(type, options);
    this.#detail = options?.detail ?? null;
  }

  get detail(): unknown {
    return this.#detail;
  }

  override get [Symbol.toStringTag](): string {
    return "CustomEvent";
  }
}

type ErrorEventOptions = EventOptions & {
  message?: string;
  filename?: string;
  lineno?: number;
  colno?: number;
  error?: unknown;
};

export class ErrorEvent extends Event {
  readonly #options: ErrorEventOptions;

  constructor(type: unknown, options: ErrorEventOptions | null = {}) {
    super(type, options);
    this.#options = { ...options };
  }

  get message(): string {
    return String(this.#options.message ?? "");
  }
  get filename(): string {
    return String(this.#options.filename ?? "");
  }
  get lineno(): number {
    return Number(this.#options.lineno ?? 0);
  }
  get colno(): number {
    return Number(this.#options.colno ?? 0);
  }
  get error(): unknown {
    return this.#options.error;
  }

  override get [Symbol.toStringTag](): string {
    return "ErrorEvent";
  }
}

showMembers(CustomEvent, [...EVENT_MEMBERS, "detail"]);
showMembers(ErrorEvent, [...EVENT_MEMBERS, "message", "filename", "lineno", "colno", "error"]);
