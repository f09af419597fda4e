/**
 * The first code in every isolate. It is bundled to one IIFE and evaluated by the hook host as the body
 * of a function that has `$0`, the only thing of the outside there is: a function from string to string. It leaves the
 * one function the host calls in `clawdHear`. Only strings cross, in both directions; with the first of them a script gets
 * the one way to wait for an answer without giving up its thread.
 *
 * The guest's own code runs in the same realm, so nothing here guards a secret; what is captured at the start merely
 * keeps a guest that bends its built-ins from cutting itself off. The walls are the isolate, the process and the broker.
 */

import { base64OfBytes } from "./base64.ts";
import { brokerCalls } from "./broker-call.ts";
import { clawdObject } from "./clawd-object.ts";
import { guestConsole } from "./console.ts";
import { callError, notOffered } from "./deno-errors.ts";
import { type Installed, installDeno, type LoadOrder } from "./deno-namespace.ts";
import { inspectWith } from "./guest-inspect.ts";
import {
  type CallAnswer,
  type FromGuest,
  type GuestError,
  HOST_WORDS,
  LOG_LINES_MAX,
  LOG_PIECE_CHARS,
  type RejectionReason,
  SAY_LIMIT_CHARS,
  type ToGuest,
} from "./guest-protocol.ts";
import { guestTimers } from "./guest-timers.ts";
import { rejectionReason } from "./rejection-reason.ts";
import { textOfUtf8 } from "./utf8.ts";
import { installWeb } from "./web-surface.ts";

declare const $0: (text: string) => unknown;
// biome-ignore lint/style/useConst: the host declares it around this code, and reads it afterwards
declare let clawdHear: (text: string, stand?: Stand) => Outbox | undefined;

/**
 * What an entry of a hook leaves for the host when it has ended, its microtasks included: that the load is done, and the
 * text of an answer, empty for none. So neither costs a visit to the host's thread, and no answer goes out before it is
 * known whether it left a rejection behind.
 */
type Outbox = { loaded: boolean; answer: string };

/** A reference to a function of the host. Nothing of the guest's ever sees it: it can do more than is meant. */
type Stand = { applySyncPromise(receiver: undefined, args: [string]): unknown };

type Callable = (...args: unknown[]) => unknown;

const post = $0;
const { parse, stringify } = JSON;
const { apply } = Reflect;
const { setPrototypeOf } = Object;
const { slice } = String.prototype;
const { then } = Promise.prototype;
const { now } = Date;
const PromiseOf = Promise;
const RangeErrorOf = RangeError;
const ErrorOf = Error;
// biome-ignore lint/security/noGlobalEval: running a stranger's text is what this realm is for
const evaluate = globalThis.eval;

/** Longest name, message and stack of an error that is told, UTF-16 units. */
const ERROR_TEXT_CHARS = 8192;

let lines = 0;
let over = false;
let handler: Callable | undefined;
let clawd: object = {};
let deno: Installed | undefined;
let mode: LoadOrder["mode"] = "hook";
let standing: Stand | undefined;
const outbox = setPrototypeOf({ loaded: false, answer: "" }, null) as Outbox;

/** Counts while JSON is written, so that a value that is too large stops before its text is made. */
function sizeGuard(): (key: string, value: unknown) => unknown {
  let chars = 0;
  return (key, value) => {
    chars += key.length + (typeof value === "string" ? value.length : 2);
    if (chars > SAY_LIMIT_CHARS) throw new RangeErrorOf(`more than ${SAY_LIMIT_CHARS} characters at once`);
    return value;
  };
}

function textOf(message: FromGuest): string {
  const text = stringify(setPrototypeOf(message, null), sizeGuard());
  if (text.length > SAY_LIMIT_CHARS)
    throw new RangeErrorOf(`a message of ${text.length} characters; ${SAY_LIMIT_CHARS} are the limit`);
  return text;
}

function say(message: FromGuest): void {
  if (!over) post(textOf(message));
}

function stand(message: FromGuest): CallAnswer {
  if (over) throw new RangeErrorOf("the script has ended");
  if (!standing) throw notOffered("a synchronous call in a hook", "use the function that gives a promise");
  const reply = parse(standing.applySyncPromise(undefined, [textOf(message)]) as string) as { answer: CallAnswer };
  return reply.answer;
}

/** Reads an error of the guest once. Its getters are the guest's code: they may throw, and the slice's time limit holds. */
function describe(error: unknown): GuestError {
  const text = (value: unknown, instead: string) =>
    typeof value === "string" ? (apply(slice, value, [0, ERROR_TEXT_CHARS]) as string) : instead;
  try {
    if (!(error instanceof ErrorOf)) return { name: "", message: text(inspectWith(error), ""), stack: "" };
    const { name, message, stack } = error as unknown as Record<string, unknown>;
    return { name: text(name, "Error"), message: text(message, ""), stack: text(stack, "") };
  } catch {
    return { name: "", message: "something that cannot be read", stack: "" };
  }
}

function fault(error: unknown): void {
  say({ k: "fault", error: describe(error) });
}

/** What the engine noticed at the end of the last entry. */
function rejected(told: RejectionReason): void {
  const reason = rejectionReason(told);
  if (web.isRejectionSeenTo(reason)) return;
  const nameless = { name: "", message: "#<Object>", stack: "" };
  say({ k: "fault", error: told.type === "object" ? nameless : describe(reason), inPromise: true });
}

function guarded(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    web.report(error);
  }
}

function settle(value: unknown, done: (value: unknown) => void, failed: (error: unknown) => void): void {
  const heard = [
    (result: unknown) => guarded(() => done(result)),
    (error: unknown) => guarded(() => failed(error)),
  ] as const;
  try {
    // Not by resolving another promise with it, which would call the guest's own `then`.
    const promise = value instanceof PromiseOf ? value : new PromiseOf((resolve) => resolve(value));
    void apply(then, promise, heard);
  } catch (error) {
    // It had the prototype of a promise, and was none.
    failed(error);
  }
}

function print(to: "stdout" | "stderr", text: string): void {
  lines += 1;
  if (mode === "hook" && lines > LOG_LINES_MAX) return;
  for (let at = 0; at < text.length; at += LOG_PIECE_CHARS)
    say({ k: "log", to, text: apply(slice, text, [at, at + LOG_PIECE_CHARS]) as string });
}

function write(to: "stdout" | "stderr", bytes: Uint8Array): void {
  if (mode === "hook") {
    print(to, textOfUtf8(bytes));
    return;
  }
  for (let at = 0; at < bytes.length; at += LOG_PIECE_CHARS)
    say({ k: "bytes", to, data: base64OfBytes(bytes.subarray(at, at + LOG_PIECE_CHARS)) });
}

/** Ends a script. What it still does before the host stops it is heard by nobody. */
function exit(code: number): never {
  if (mode === "hook") throw notOffered("Deno.exit in a hook", "return or throw");
  say({ k: "exit", code });
  over = true;
  throw new RangeErrorOf("the script has ended");
}

/** The host answers itself, at once: "" when it cannot. */
function askHost(word: string, question: string | number): string {
  const answer = post(`${word}${question}`);
  return typeof answer === "string" ? answer : "";
}

const broker = brokerCalls(say, stand, callError, () => timers.refresh());
const timers = guestTimers(
  now,
  (inMs) => {
    if (!over) post(`${HOST_WORDS.wake}${inMs === undefined ? "" : inMs}`);
  },
  () => broker.pending() > 0,
);
const console = guestConsole(print, now);
const web = installWeb({ console: console.surface, timers, broker, fault, evaluate, askHost });

function load(order: LoadOrder): void {
  mode = order.mode;
  const setExitCode = (code: number) => say({ k: "exitCode", code });
  deno = installDeno(order, broker, {
    ...{ inspect: inspectWith, write, exit, setExitCode },
    library(parts) {
      const { denoLibrary } = web.load("deno") as typeof import("./deno-library.ts");
      return denoLibrary(parts, {
        say: (news) => say({ k: "test", news }),
        describe,
        nowMs: now,
        underWay: () => broker.pending() + timers.holding(),
        origin: `file:///${order.name}`,
      });
    },
  });
  clawd = clawdObject(order.name, broker.call, console.log);
  const take = (exported: Record<string, unknown>) => {
    if (typeof exported.default === "function") handler = exported.default as Callable;
  };
  const unloadable = (error: unknown) => say({ k: "unloadable", error: describe(error) });
  let loading: unknown;
  try {
    loading = (evaluate(order.source) as Callable)(take, nodeModule);
  } catch (error) {
    unloadable(error);
    return;
  }
  settle(
    loading,
    () => {
      if (order.tests && deno) return runTests(deno.library().tests.run(order.tests), setExitCode, unloadable);
      if (mode === "script") return say({ k: "loaded" });
      if (handler) {
        outbox.loaded = true;
        return;
      }
      unloadable(new TypeError("it has no function as its default export"));
    },
    unloadable,
  );
}

function runTests(
  running: Promise<boolean>,
  setExitCode: (code: number) => void,
  failed: (error: unknown) => void,
): void {
  settle(
    running,
    (passed) => {
      if (passed !== true) setExitCode(1);
      say({ k: "loaded" });
    },
    failed,
  );
}

/** What a `node:` import gives. */
function nodeModule(name: string): unknown {
  const { nodeModules } = web.load("node") as typeof import("./node-library.ts");
  return nodeModules[name as keyof typeof nodeModules];
}

function answerEvent(id: number, event: unknown): void {
  lines = 0;
  const threw = (error: unknown) => say({ k: "threw", id, error: describe(error) });
  let answer: unknown;
  try {
    answer = handler?.(event, clawd);
  } catch (error) {
    threw(error);
    return;
  }
  settle(
    answer,
    (value) => {
      try {
        outbox.answer = textOf({ k: "answer", id, value: value === undefined ? null : value });
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
    case "rejected":
      rejected(order.reason);
      return;
    case "wake":
      timers.wake();
      return;
    case "signal":
      deno?.signals.hear(order.name, web.report);
      return;
    case "reply":
      broker.settle(order.id, order.answer);
  }
}

clawdHear = (text, stand) => {
  standing ??= stand;
  guarded(() => {
    const order = parse(text) as ToGuest;
    // What left a rejection behind is still to go out.
    if (order.k !== "rejected") {
      outbox.loaded = false;
      outbox.answer = "";
    }
    hear(order);
  });
  return mode === "hook" ? outbox : undefined;
};
