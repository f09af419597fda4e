/**
 * The first code in every isolate. It is bundled to one IIFE and evaluated by the hook host as the body
 * of a function that has `$0`, the only thing of the outside there is: a function from string to number. It leaves the
 * one function the host calls in `clawdHear`. Only strings cross, in both directions.
 *
 * The guest's own code runs in the same realm, so nothing here guards a secret; what is captured at the start merely
 * keeps a guest that bends its built-ins from cutting itself off. The walls are the isolate, the process and the broker.
 */

import { type EnvView, mayReadVariable } from "./env-view.ts";
import { structuredClone } from "./guest-clone.ts";
import { inspect } from "./guest-inspect.ts";
import {
  type FromGuest,
  type GuestError,
  LOG_LINES_MAX,
  LOG_PIECE_CHARS,
  PENDING_CALLS_MAX,
  SAY_LIMIT_CHARS,
  type ToGuest,
  WAKE_PREFIX,
} from "./guest-protocol.ts";
import { atob, btoa, TextDecoder, TextEncoder } from "./guest-text.ts";
import { guestTimers } from "./guest-timers.ts";

declare const $0: (text: string) => unknown;
// biome-ignore lint/style/useConst: the host declares it around this code, and reads it afterwards
declare let clawdHear: (text: string) => void;

type Callable = (...args: unknown[]) => unknown;
type Pending = { readonly resolve: (text: string) => void; readonly reject: (error: Error) => void };

const post = $0;
const { parse, stringify } = JSON;
const { apply } = Reflect;
const { defineProperty, freeze } = Object;
const { now } = Date;
const PromiseOf = Promise;
const ErrorOf = Error;
const then = Promise.prototype.then;
// biome-ignore lint/security/noGlobalEval: running a stranger's text is what this realm is for
const evaluate = globalThis.eval;

const pending = new Map<number, Pending>();
const pendingGet = pending.get.bind(pending);
const pendingSet = pending.set.bind(pending);
const pendingDelete = pending.delete.bind(pending);

let calls = 0;
let lines = 0;
let over = false;
let handler: Callable | undefined;
let hookName = "";
let keepsAllLines = false;
let env: EnvView = { values: {}, allowed: [], denied: [] };

function say(message: FromGuest): void {
  if (over) return;
  const text = stringify(message);
  if (text.length > SAY_LIMIT_CHARS)
    throw new RangeError(`a message of ${text.length} characters; ${SAY_LIMIT_CHARS} are the limit`);
  post(text);
}

/** Reads an error of the guest once. Its getters are the guest's code: they may throw, and the slice's time limit holds. */
function describe(error: unknown): GuestError {
  const text = (value: unknown, instead: string) => (typeof value === "string" ? value.slice(0, 8192) : instead);
  try {
    if (typeof error !== "object" || error === null)
      return { name: "Error", message: `threw ${inspect(error)}`.slice(0, 8192), stack: "" };
    const { name, message, stack } = error as Record<string, unknown>;
    return { name: text(name, "Error"), message: text(message, ""), stack: text(stack, "") };
  } catch {
    return { name: "Error", message: "threw something that cannot be read", stack: "" };
  }
}

function fault(error: unknown): void {
  say({ k: "fault", error: describe(error) });
}

function guarded(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    fault(error);
  }
}

function settle(promise: unknown, done: (value: unknown) => void, failed: (error: unknown) => void): void {
  const adopted = new PromiseOf((resolve) => resolve(promise));
  void apply(then, adopted, [
    (value: unknown) => guarded(() => done(value)),
    (error: unknown) => guarded(() => failed(error)),
  ]);
}

function log(to: "stdout" | "stderr", values: readonly unknown[]): void {
  lines += 1;
  if (!keepsAllLines && lines > LOG_LINES_MAX) return;
  const text = `${values.map((value) => inspect(value)).join(" ")}\n`;
  for (let at = 0; at < text.length; at += LOG_PIECE_CHARS)
    say({ k: "log", to, text: text.slice(at, at + LOG_PIECE_CHARS) });
}

function namedError(name: string, message: string): Error {
  const error = new ErrorOf(message);
  defineProperty(error, "name", { value: name, configurable: true, writable: true });
  return error;
}

function readTextFile(path: unknown): Promise<string> {
  return new PromiseOf((resolve, reject) => {
    if (typeof path !== "string") throw new TypeError("Deno.readTextFile takes a path as a string");
    if (pending.size >= PENDING_CALLS_MAX) throw new RangeError(`more than ${PENDING_CALLS_MAX} calls at once`);
    calls += 1;
    pendingSet(calls, { resolve, reject });
    say({ k: "call", id: calls, name: "readTextFile", path });
  });
}

function readVariable(name: unknown): string | undefined {
  if (typeof name !== "string") throw new TypeError("Deno.env.get takes a name as a string");
  if (!mayReadVariable(env, name)) {
    throw namedError(
      "NotCapable",
      `Requires env access to "${name}": grant it with --allow-env=${name}, or @allow env=${name} in the hook's header`,
    );
  }
  return Object.hasOwn(env.values, name) ? env.values[name] : undefined;
}

/** Ends a script. What it still does before the host stops it is heard by nobody. */
function exit(code: unknown = 0): never {
  const wanted = Number(code);
  say({ k: "exit", code: Number.isInteger(wanted) ? wanted & 255 : 1 });
  over = true;
  throw new ErrorOf("the script has ended");
}

function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

const timers = guestTimers(now, (inMs) => {
  if (!over) post(WAKE_PREFIX + (inMs === undefined ? "" : inMs));
});

function installSurface(): void {
  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics"])
    delete (globalThis as Record<string, unknown>)[name];
  const out = (...values: unknown[]) => log("stdout", values);
  const err = (...values: unknown[]) => log("stderr", values);
  const assert = (condition: unknown, ...values: unknown[]) => {
    if (!condition) log("stderr", ["Assertion failed", ...values]);
  };
  defineGlobal("console", { log: out, info: out, debug: out, warn: err, error: err, assert });
  defineGlobal("setTimeout", (callback: unknown, delay?: unknown, ...args: unknown[]) =>
    timers.set(callback, delay, args, false),
  );
  defineGlobal("setInterval", (callback: unknown, delay?: unknown, ...args: unknown[]) =>
    timers.set(callback, delay, args, true),
  );
  defineGlobal("clearTimeout", timers.clear);
  defineGlobal("clearInterval", timers.clear);
  defineGlobal("queueMicrotask", (callback: unknown) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
    void apply(then, PromiseOf.resolve(), [() => guarded(() => apply(callback, undefined, []))]);
  });
  defineGlobal("structuredClone", structuredClone);
  defineGlobal("TextEncoder", TextEncoder);
  defineGlobal("TextDecoder", TextDecoder);
  defineGlobal("atob", atob);
  defineGlobal("btoa", btoa);
}

function load(order: Extract<ToGuest, { k: "load" }>): void {
  env = order.env;
  hookName = order.name;
  keepsAllLines = order.mode === "script";
  const access = { readTextFile, env: freeze({ get: readVariable }) };
  defineGlobal("Deno", freeze(order.mode === "script" ? { ...access, args: freeze([...order.args]), exit } : access));
  const take = (exported: Record<string, unknown>) => {
    if (typeof exported.default === "function") handler = exported.default as Callable;
  };
  const unloadable = (error: unknown) => say({ k: "unloadable", error: describe(error) });
  let loading: unknown;
  try {
    loading = (evaluate(order.source) as Callable)(take);
  } catch (error) {
    unloadable(error);
    return;
  }
  settle(
    loading,
    () => {
      if (order.mode === "script" || handler) return say({ k: "loaded" });
      unloadable(namedError("TypeError", "it has no function as its default export"));
    },
    unloadable,
  );
}

function answerEvent(id: number, event: unknown): void {
  lines = 0;
  const threw = (error: unknown) => say({ k: "threw", id, error: describe(error) });
  const clawd = freeze({ hook: hookName, log: (...values: unknown[]) => log("stdout", values) });
  settle(
    new PromiseOf((resolve) => resolve(handler?.(event, clawd))),
    (value) => {
      try {
        say({ k: "answer", id, value: value === undefined ? null : value });
      } catch (error) {
        threw(error);
      }
    },
    threw,
  );
}

function hear(order: ToGuest): void {
  switch (order.k) {
    case "load":
      load(order);
      return;
    case "event":
      answerEvent(order.id, order.event);
      return;
    case "wake":
      timers.wake();
      return;
    case "reply": {
      const call = pendingGet(order.id);
      pendingDelete(order.id);
      if (order.ok) call?.resolve(order.value);
      else call?.reject(namedError(order.name, order.message));
    }
  }
}

installSurface();
clawdHear = (text) => guarded(() => hear(parse(text) as ToGuest));
