/** Puts the web's globals into the isolate, which has bare JavaScript. Runs inside it, at the start. */

import { AbortController, AbortSignal, useTimers } from "./abort.ts";
import { atob, base64OfBytes, btoa, bytesOfBase64, hideNativeBase64 } from "./base64.ts";
import { Blob, bytesOfBlob, File } from "./blob.ts";
import type { BrokerCalls, Call } from "./broker-call.ts";
import { guestCrypto } from "./crypto.ts";
import { DOMException } from "./dom-exception.ts";
import { handlerProperty } from "./event-handler.ts";
import {
  CustomEvent,
  dispatch,
  ErrorEvent,
  EVENT_MEMBERS,
  Event,
  EventTarget,
  isHeard,
  reportListenerErrors,
} from "./events.ts";
import { guestFetch } from "./fetch.ts";
import { FormData } from "./form-data.ts";
import { cloneAndMove, MOVED, structuredClone } from "./guest-clone.ts";
import { type Encodings, TextDecoder, TextEncoder, useEncodings } from "./guest-text.ts";
import type { Timers } from "./guest-timers.ts";
import { Headers } from "./headers.ts";
import { type HostJobs, hostJobs } from "./host-jobs.ts";
import { defineLazily, type Loader, libraryLoader } from "./lazy-library.ts";
import { guestPerformance, Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure } from "./performance.ts";
import { Request } from "./request.ts";
import { Response } from "./response.ts";
import { installStackTraces } from "./stack-trace.ts";
import { installStreams } from "./stream-library.ts";
import { installUrls } from "./url-library.ts";

/** What of the prelude the surface is made over. */
export type WebTools = {
  readonly console: object;
  readonly timers: Timers;
  readonly broker: BrokerCalls;
  /** Tells an error that nothing caught. */
  readonly fault: (error: unknown) => void;
  readonly evaluate: (text: string) => unknown;
  /** Asks the host itself; "" when it cannot. */
  readonly askHost: (word: string, question: string | number) => string;
};

const { apply } = Reflect;
const { then } = Promise.prototype;
const PromiseOf = Promise;
const realm = globalThis;
const { defineProperty, setPrototypeOf } = Object;

/** Not offered: they let a guest out of its memory's limits or measure time finely. */
const REMOVED = ["WebAssembly", "SharedArrayBuffer", "Atomics"];

function defineGlobal(name: string, value: unknown): void {
  // The bundler may have given a class another one.
  if (typeof value === "function") defineProperty(value, "name", { value: name, configurable: true });
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

class Navigator {
  get userAgent(): string {
    return "clawd";
  }
  /** What a guest's code runs on, whatever the machine has. */
  get hardwareConcurrency(): number {
    return 1;
  }
  get language(): string {
    return "en-US";
  }
  get languages(): string[] {
    return ["en-US"];
  }
  get [Symbol.toStringTag](): string {
    return "Navigator";
  }
}

/** What the global object is an instance of, under the name that it has in browsers and in Deno. Nobody can make another. */
class Window extends EventTarget {
  constructor() {
    super();
    throw new TypeError("Illegal constructor");
  }
  override get [Symbol.toStringTag](): string {
    return "Window";
  }
}

/** Makes the global object a target of events, with the attributes that the standard has on it. */
function installEvents(): void {
  setPrototypeOf(globalThis, Window.prototype);
  // Of an error it is told in parts, and to answer with `true` is what prevents, as nowhere else.
  const onerror = handlerProperty("error", (handler, target, event) => {
    const parts =
      event instanceof ErrorEvent ? [event.message, event.filename, event.lineno, event.colno, event.error] : [event];
    const answer = apply(handler, target, parts);
    if (answer === parts.length > 1) event.preventDefault();
  });
  const attributes = {
    onerror,
    onrejectionhandled: handlerProperty("rejectionhandled"),
    onunhandledrejection: handlerProperty("unhandledrejection"),
  };
  for (const [name, attribute] of Object.entries(attributes))
    defineProperty(globalThis, name, { ...attribute, enumerable: false });
}

type Messages = ReturnType<typeof import("./message-port.ts").messages>;

const CRYPTO_NAMES = ["CryptoKey", "SubtleCrypto"];
const MESSAGE_NAMES = ["CloseEvent", "MessageChannel", "MessageEvent", "MessagePort", "PromiseRejectionEvent"];

/** Streams, messages and URL patterns: libraries over what is here. */
function installLibraries(load: Loader, jobs: HostJobs, timers: Timers, call: Call): { messages(): Messages } {
  installStreams(() => {
    const { webStreams } = load("streams") as typeof import("./streams.ts");
    return webStreams({ TextEncoder, TextDecoder, base64OfBytes, bytesOfBase64, ask: jobs.run });
  }, defineGlobal);
  let made: Messages | undefined;
  const messages = () => {
    const library = load("messages") as typeof import("./message-port.ts");
    const later = (run: () => void) => void timers.set(run, 0, [], false);
    made ??= library.messages({
      Event,
      EventTarget,
      DOMException,
      cloneAndMove,
      moved: MOVED,
      later,
      eventMembers: EVENT_MEMBERS,
    });
    return made;
  };
  defineLazily(MESSAGE_NAMES, messages, defineGlobal);
  const sockets = () => {
    const { webSocket } = load("websocket") as typeof import("./web-socket.ts");
    const { URL } = load("url") as typeof import("./url.ts");
    const own = { AbortController, Blob, Event, ErrorEvent, EventTarget, DOMException, URL };
    return webSocket({ ...messages(), ...own, call, base64OfBytes, bytesOfBase64, bytesOfBlob });
  };
  defineLazily(["WebSocket"], sockets, defineGlobal);
  defineLazily(
    ["URLPattern"],
    () => (load("urlpattern") as typeof import("./url-pattern.ts")).urlPattern(),
    defineGlobal,
  );
  return { messages };
}

function timerFunctions(timers: Timers): Record<string, unknown> {
  return {
    setTimeout: (callback: unknown, delay?: unknown, ...args: unknown[]) => timers.set(callback, delay, args, false),
    setInterval: (callback: unknown, delay?: unknown, ...args: unknown[]) => timers.set(callback, delay, args, true),
    clearTimeout: (id?: unknown) => timers.clear(id),
    clearInterval: (id?: unknown) => timers.clear(id),
  };
}

/** `report` is for errors that nothing caught: listeners of "error" hear them first, and may say that they were seen to. */
export function installWeb({ console, timers, broker, fault, evaluate, askHost }: WebTools): {
  report(error: unknown): void;
  /** Tells listeners of a rejection that nobody handles; true when one of them says that it was seen to. */
  isRejectionSeenTo(reason: unknown): boolean;
  /** Hands out a library by its name. */
  load: Loader;
} {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
  hideNativeBase64();
  installStackTraces();
  installEvents();
  let reporting = false;

  function report(error: unknown): void {
    // An error of a listener of errors is not heard by listeners.
    if (reporting) {
      fault(error);
      return;
    }
    reporting = true;
    try {
      const message = error instanceof Error ? `Uncaught ${error.name}: ${error.message}` : "Uncaught";
      if (dispatch(realm, new ErrorEvent("error", { cancelable: true, message, error }))) fault(error);
    } catch {
      fault(error);
    } finally {
      reporting = false;
    }
  }

  function isRejectionSeenTo(reason: unknown): boolean {
    if (!isHeard(realm, "unhandledrejection")) return false;
    const promise = PromiseOf.reject(reason);
    void apply(then, promise, [undefined, () => {}]);
    const { PromiseRejectionEvent } = libraries.messages();
    return !dispatch(realm, new PromiseRejectionEvent("unhandledrejection", { cancelable: true, promise, reason }));
  }

  reportListenerErrors(report);
  useTimers((run, delayMs) => {
    const id = timers.set(run, delayMs, [], false, false);
    return (waits) => timers.hold(id, waits);
  });
  const load = libraryLoader(askHost, evaluate);
  const jobs = hostJobs(askHost, broker);
  const crypto = guestCrypto(askHost, jobs, load);
  useEncodings(() => load("encodings") as Encodings);
  installUrls(load, defineGlobal);
  defineLazily(CRYPTO_NAMES, crypto.classes, defineGlobal);
  const libraries = installLibraries(load, jobs, timers, broker.call);
  const globals: Record<string, unknown> = {
    ...timerFunctions(timers),
    ...crypto.surface,
    AbortController,
    AbortSignal,
    Blob,
    CustomEvent,
    DOMException,
    ErrorEvent,
    Event,
    EventTarget,
    File,
    FormData,
    Headers,
    Navigator,
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    Request,
    Response,
    TextDecoder,
    TextEncoder,
    atob,
    btoa,
    console,
    fetch: guestFetch(broker.call),
    navigator: new Navigator(),
    performance: guestPerformance(),
    queueMicrotask: (callback: unknown) => {
      if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
      const run = () => {
        try {
          apply(callback, undefined, []);
        } catch (error) {
          report(error);
        }
      };
      void apply(then, PromiseOf.resolve(), [run]);
    },
    reportError: report,
    self: globalThis,
    structuredClone,
  };
  for (const name of Object.keys(globals)) defineGlobal(name, globals[name]);
  return { report, isRejectionSeenTo, load };
}
