import type { JsonValue } from "@bufbuild/protobuf";
import { type Failure, type FailureCode, fail } from "../../core/domain/failure.ts";
import { showable } from "../../core/domain/showable.ts";
import type { Capabilities } from "../broker/capabilities.ts";
import type { EnvView } from "../guest/env-view.ts";
import {
  type FromGuest,
  type HeardSignal,
  LOG_LINES_MAX,
  type SysView,
  type ToGuest,
} from "../guest/guest-protocol.ts";
import type { ErrorText } from "../program/stack-reader.ts";
import { callLane } from "./call-lane.ts";
import type { GuestPlan } from "./engine.ts";
import { type EventClock, eventClock } from "./event-clock.ts";
import { readFromGuest } from "./guest-words.ts";
import type { HostProcess } from "./host-process.ts";
import type { GuestLimits } from "./host-protocol.ts";
import type { Again, Guest, GuestDeath, GuestEars } from "./hosted-guest.ts";

/** What came of an event. `killed` and `again` as in `GuestDeath`. */
export type Heard =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly failure: Failure; readonly killed: boolean; readonly again: Again };

export type GuestOrder = {
  readonly mode: "hook" | "script";
  readonly plan: GuestPlan;
  readonly capabilities: Capabilities;
  readonly views: { readonly env: EnvView; readonly sys: SysView };
  readonly limits: GuestLimits;
  /** The first slice, which runs the top level, milliseconds. */
  readonly loadMs: number;
  /** Time until the top level has run to its end, milliseconds. */
  readonly loadLimitMs: number;
  /** How long it may stand in the queue of its process during one event, milliseconds. */
  readonly queueMs: number;
  /** Texts that it may send for one event; 0 for any number, where a slow reader holds it back. */
  readonly wordsMax: number;
  readonly now: () => number;
  /** Ends the load, when it comes before that has ended. */
  readonly signal: AbortSignal;
  exit(code: number): void;
  /** Its process had to be killed by its fault while it was asked nothing. */
  killed(failure: Failure): void;
};

/** One guest of a process. It is asked one thing at a time; the first may be asked while it loads. */
export type GuestSession = {
  /** Settles when the top level has run: for a script its whole run, timers included, with its exit code. */
  readonly loaded: Promise<Heard>;
  /** False when it shall answer no further events. */
  readonly usable: boolean;
  /** Fires an event. A hook that needs longer fails, and is not asked again. Never rejects. */
  ask(event: JsonValue, timeoutMs: number, signal: AbortSignal): Promise<Heard>;
  /** Tells a script a signal that it listens to. */
  signal(name: HeardSignal): void;
  close(): void;
};

type Question = {
  readonly id: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  settle(outcome: Heard): void;
};

/** An isolate is replaced after so many events: what it holds back for itself does not grow for ever. */
const EVENTS_MAX = 1000;

function failed(code: FailureCode, message: string, cause?: unknown): Extract<Heard, { ok: false }> {
  return { ...fail(code, message, cause === undefined ? {} : { cause }), killed: false, again: "no" };
}

function explained(error: ErrorText): Heard {
  return failed("invalid", error.where === "" ? error.line : `${error.line} (${error.where})`, error);
}

/** Opens a guest on a host, loads the program into it, and carries events in and answers out. */
export function openGuestSession(host: HostProcess, order: GuestOrder): GuestSession {
  const { plan, capabilities } = order;
  /** What it is asked now; id 0 is the load. */
  let asked: (Question & { readonly clock: EventClock; readonly stop: () => void }) | undefined;
  /** An event that was told along with the load; it is asked when that has ended. */
  let upcoming: Question | undefined;
  let ran = false;
  /** Of a script that ends by itself. */
  let exitCode = 0;
  let retired = false;
  let over = false;
  /** Until the process has come to it. */
  let queued = true;
  let words = 0;
  let lines = 0;
  let events = 0;

  function settle(outcome: Heard): void {
    const done = asked;
    if (!done) return;
    const next = done.id === 0 ? upcoming : undefined;
    asked = undefined;
    upcoming = undefined;
    done.clock.end();
    done.signal.removeEventListener("abort", done.stop);
    done.settle(outcome);
    if (next && outcome.ok) begin(next);
    else next?.settle(outcome);
  }

  function retire(): void {
    if (retired) return;
    retired = true;
    lane.end();
    capabilities.close();
    if (!over) guest.close();
  }

  function abandon(outcome: Heard): void {
    settle(outcome);
    retire();
  }

  /** Begins to wait for an outcome under a clock. */
  function begin(question: Question): void {
    const { id, limitMs, signal } = question;
    const stop = () => abandon(failed("cancelled", "was interrupted"));
    const late = id === 0 ? "did not finish" : "gave no answer";
    const clock = eventClock(
      order.now,
      limitMs,
      order.queueMs,
      () => capabilities.asking > 0,
      () => abandon(failed("timed_out", `${late} within ${limitMs} ms`)),
      () => abandon(failed("exhausted", `waited ${order.queueMs} ms for a turn in its process and did not get one`)),
    );
    clock.hold(queued);
    signal.addEventListener("abort", stop, { once: true });
    words = 0;
    lines = 0;
    asked = { ...question, clock, stop };
  }

  const lane = callLane(host, capabilities, (reply, stands) => {
    const text = JSON.stringify(reply);
    return over || (stands ? guest.answer(text) : guest.tell(text));
  });

  function log(to: "stdout" | "stderr", text: string): void {
    lines += 1;
    if (order.mode === "hook" && lines > LOG_LINES_MAX) return;
    plan.log(to, text);
  }

  /** What nobody caught is told to people, and is what came of the event that was under way in a hook. */
  function fault(error: ErrorText): void {
    plan.fault(error);
    if (order.mode === "hook" && asked) settle(explained(error));
  }

  function obey(word: FromGuest, chars: number): void {
    switch (word.k) {
      case "loaded":
        ran = true;
        if (order.mode === "hook" && asked?.id === 0) settle({ ok: true, value: null });
        return;
      case "unloadable":
        if (asked?.id === 0) abandon(explained(plan.program.explain(word.error)));
        return;
      case "answer":
        if (asked?.id === word.id && word.id > 0) settle({ ok: true, value: word.value as JsonValue });
        return;
      case "threw":
        if (asked?.id === word.id && word.id > 0) settle(explained(plan.program.explain(word.error)));
        return;
      case "log":
        log(word.to, word.text);
        return;
      case "bytes":
        plan.script?.bytes(word.to, Buffer.from(word.data, "base64"));
        return;
      case "test":
        plan.script?.test(word.news);
        return;
      case "call":
        if (!lane.serve(word, chars)) abandon(failed("exhausted", "had more calls open at once than a guest may"));
        return;
      case "fault":
        fault(plan.program.explain(word.error, word.inPromise));
        return;
      case "exit":
        order.exit(word.code);
        return;
      case "exitCode":
        exitCode = word.code;
        return;
    }
  }

  function said(text: string): void {
    if (over || retired) return;
    words += 1;
    if (order.wordsMax > 0 && words > order.wordsMax) {
      abandon(failed("exhausted", `sent more than ${order.wordsMax} messages`));
      return;
    }
    const word = readFromGuest(text);
    if (word) obey(word, text.length);
    else abandon(failed("exhausted", "sent a message that makes no sense"));
  }

  /** With nothing running, no timer and no call under way, what has not come by now never will. */
  function idle(): void {
    if (!asked || lane.open > 0) return;
    if (order.mode === "script" && ran) settle({ ok: true, value: exitCode });
    else abandon(failed("invalid", "waits for something that never comes"));
  }

  const ears: GuestEars = {
    said,
    idle,
    fault: (stack) => fault(plan.program.explainStack(stack)),
    queued(waits) {
      queued = waits;
      asked?.clock.hold(waits);
    },
    ended({ code, message, killed, again }: GuestDeath) {
      over = true;
      retire();
      const outcome = { ...failed(code, showable(message)), killed, again };
      if (asked) settle(outcome);
      else if (killed) order.killed(outcome.failure);
    },
    owes: () => asked !== undefined,
  };
  const loading = Promise.withResolvers<Heard>();
  begin({ id: 0, limitMs: order.loadLimitMs, signal: order.signal, settle: loading.resolve });
  const guest: Guest = host.openGuest(order.limits, ears);
  const { program, name, args, cwd } = plan;
  const load: ToGuest = {
    ...{ k: "load", mode: order.mode, source: program.source, name, args },
    ...{ env: order.views.env, sys: order.views.sys, cwd },
    ...(plan.script && { terminals: plan.script.terminals }),
    ...(plan.script?.tests && { tests: plan.script.tests }),
  };
  if (!guest.ask(JSON.stringify(load), order.loadMs)) abandon(failed("exhausted", "is too large for an isolate"));

  return {
    loaded: loading.promise,
    get usable() {
      return !retired && events < EVENTS_MAX;
    },
    async ask(event, timeoutMs, signal) {
      if (signal.aborted) return failed("cancelled", "was interrupted");
      if (over)
        return loading.promise.then((outcome) => (outcome.ok ? failed("unavailable", "lost its process") : outcome));
      events += 1;
      const { promise, resolve } = Promise.withResolvers<Heard>();
      const question = { id: events, limitMs: timeoutMs, signal, settle: resolve };
      const text: ToGuest = { k: "event", id: events, event };
      if (!guest.askLoaded(JSON.stringify(text)))
        return failed("exhausted", "was not asked: the event is larger than a hook can take");
      if (asked) upcoming = question;
      else begin(question);
      return promise;
    },
    signal: (name) => void (over || retired || guest.tell(JSON.stringify({ k: "signal", name } satisfies ToGuest))),
    close: retire,
  };
}
