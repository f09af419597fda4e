/** AbortController and AbortSignal. Runs inside the isolate. */

import { DOMException } from "./dom-exception.ts";
import { Event, EventTarget, LISTENING } from "./events.ts";

type Handler = ((this: AbortSignal, event: Event) => unknown) | null;

const KEY = {};

let abortSignal: (signal: AbortSignal, reason: unknown) => void;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason: unknown;
  #onabort: Handler = null;
  readonly #callHandler = (event: Event) => this.#onabort && Reflect.apply(this.#onabort, this, [event]);
  readonly #sources = new Set<AbortSignal>();
  readonly #dependents = new Set<AbortSignal>();
  /** Of `timeout`: the guest waits for the timer while somebody listens. */
  #waitForTimer: (waits: boolean) => void = () => {};

  static {
    abortSignal = (signal, reason) => {
      if (signal.#aborted) return;
      const followers = [...signal.#dependents].filter((one) => !one.#aborted);
      signal.#mark(reason);
      // All are aborted before any listener of any of them runs.
      for (const one of followers) one.#mark(signal.#reason);
      for (const one of [signal, ...followers]) one.dispatchEvent(new Event("abort"));
    };
  }

  constructor(key?: object) {
    if (key !== KEY) throw new TypeError("Illegal constructor");
    super();
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(KEY);
    signal.#mark(reason);
    return signal;
  }

  static timeout(delayMs: unknown): AbortSignal {
    const delay = Number(delayMs);
    if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER))
      throw new TypeError("AbortSignal.timeout takes a number of milliseconds from 0 up");
    const signal = new AbortSignal(KEY);
    signal.#waitForTimer = setTimer(
      () => abortSignal(signal, new DOMException("Signal timed out.", "TimeoutError")),
      delay,
    );
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const result = new AbortSignal(KEY);
    const list = [...signals];
    for (const signal of list)
      if (!(signal instanceof AbortSignal)) throw new TypeError("AbortSignal.any takes AbortSignals");
    const aborted = list.find((signal) => signal.#aborted);
    if (aborted) {
      result.#mark(aborted.#reason);
      return result;
    }
    // Dependent signals are replaced by what they depend on, so that no chain of them is ever needed.
    for (const source of list.flatMap((signal) => (signal.#sources.size > 0 ? [...signal.#sources] : [signal]))) {
      result.#sources.add(source);
      source.#dependents.add(result);
    }
    return result;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get onabort(): Handler {
    return this.#onabort;
  }

  set onabort(handler: Handler) {
    this.#onabort = typeof handler === "function" ? handler : null;
    // The same function each time, which an EventTarget takes only once.
    this.addEventListener("abort", this.#callHandler);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  #mark(reason: unknown): void {
    this.#aborted = true;
    this.#reason = reason === undefined ? new DOMException("The signal has been aborted", "AbortError") : reason;
    for (const source of this.#sources) source.#dependents.delete(this);
    this.#sources.clear();
    this.#dependents.clear();
  }

  override [LISTENING](count: number): void {
    this.#waitForTimer(count > 0);
  }

  override get [Symbol.toStringTag](): string {
    return "AbortSignal";
  }
}

/** Sets a timer that nobody waits for until the function that comes back says so. */
type SetTimer = (run: () => void, delayMs: number) => (waits: boolean) => void;

let setTimer: SetTimer = () => () => {};

/** `AbortSignal.timeout` sets its timers here. They count as timers of the guest. */
export function useTimers(set: SetTimer): void {
  setTimer = set;
}

export class AbortController {
  readonly #signal = new AbortSignal(KEY);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason);
  }

  get [Symbol.toStringTag](): string {
    return "AbortController";
  }
}
