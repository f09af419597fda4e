/** Puts the web's globals into the isolate, which has bare JavaScript. Runs inside it, at the start. */

import { AbortController, AbortSignal, useTimers } from "./abort.ts";
import { atob, btoa, hideNativeBase64 } from "./base64.ts";
import { Blob, File } from "./blob.ts";
import type { BrokerCalls } from "./broker-call.ts";
import { guestCrypto } from "./crypto.ts";
import { DOMException } from "./dom-exception.ts";
import { CustomEvent, ErrorEvent, Event, EventTarget, reportListenerErrors } from "./events.ts";
import { guestFetch } from "./fetch.ts";
import { FormData } from "./form-data.ts";
import { structuredClone } from "./guest-clone.ts";
import { TextDecoder, TextEncoder } from "./guest-text.ts";
import type { Timers } from "./guest-timers.ts";
import { Headers } from "./headers.ts";
import { guestPerformance, Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure } from "./performance.ts";
import { Request } from "./request.ts";
import { Response } from "./response.ts";
import { installStackTraces } from "./stack-trace.ts";
import { installUrls, libraryLoader } from "./url-library.ts";

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
const { defineProperty } = Object;

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
} {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
  hideNativeBase64();
  installStackTraces();
  const target = new EventTarget();
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
      if (target.dispatchEvent(new ErrorEvent("error", { cancelable: true, message, error }))) fault(error);
    } catch {
      fault(error);
    } finally {
      reporting = false;
    }
  }

  reportListenerErrors(report);
  useTimers((run, delayMs) => {
    const id = timers.set(run, delayMs, [], false, false);
    return (waits) => timers.hold(id, waits);
  });
  libraryLoader(askHost, evaluate);
  installUrls(defineGlobal);
  const globals: Record<string, unknown> = {
    ...timerFunctions(timers),
    ...guestCrypto(askHost, broker),
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
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
    dispatchEvent: target.dispatchEvent.bind(target),
  };
  for (const name of Object.keys(globals)) defineGlobal(name, globals[name]);
  return { report };
}
