import type { JsonValue } from "@bufbuild/protobuf";
import { type Failed, type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { EnvView } from "./env-view.ts";
import type { FileAnswer } from "./guest-files.ts";
import type { FromGuest, ToGuest } from "./guest-protocol.ts";
import { readFromGuest, showable } from "./guest-words.ts";
import type { Guest, GuestDeath, GuestEars, HostProcess } from "./host-process.ts";
import type { GuestLimits } from "./host-protocol.ts";
import type { ErrorText, ScriptProgram } from "./script-program.ts";

/** What a guest runs, and what of the world it may ask for. */
export type GuestOrder = {
  readonly mode: "hook" | "script";
  readonly name: string;
  readonly program: ScriptProgram;
  readonly args: readonly string[];
  readonly env: EnvView;
  readonly limits: GuestLimits;
  /** Time of the first slice, which runs the top level, milliseconds. */
  readonly loadMs: number;
  /** Wall time until `loaded`, milliseconds. */
  readonly loadWallMs: number;
  /** Texts it may send between two events; 0 for any number, where a slow reader holds it back. */
  readonly wordsMax: number;
  /** Never rejects. */
  readFile(path: string): Promise<FileAnswer>;
  log(to: "stdout" | "stderr", text: string): void;
  /** An error that nothing in the guest caught. */
  fault(error: ErrorText): void;
  exit(code: number): void;
};

/** A failure of the guest's; `retry` when others may have been to blame for it. */
export type GuestFailed = Failed & { readonly retry: boolean };

export type GuestSession = {
  /** Settles when the top level has run: for a script its whole run, timers included. */
  readonly loaded: Promise<{ readonly ok: true } | GuestFailed>;
  /** False when it shall answer no further events. */
  readonly usable: boolean;
  readonly busy: boolean;
  /** Fires an event. A hook that needs more than `timeoutMs` fails, and is not asked again. Never rejects. */
  fire(event: unknown, timeoutMs: number, signal: AbortSignal): Promise<Result<JsonValue> | GuestFailed>;
  close(): void;
};

/** An isolate is replaced after so many events: what it holds back for itself does not grow for ever. */
const EVENTS_MAX = 1000;

type Waiting = (outcome: Result<JsonValue> | GuestFailed) => void;

function failed(failure: Failure, retry: boolean): GuestFailed {
  return { ok: false, failure, retry };
}

/** Opens a guest on a host, loads the program into it, and carries events in and answers out. */
export function openGuestSession(host: HostProcess, order: GuestOrder): GuestSession {
  const waiting = new Map<number, Waiting>();
  const loading = Promise.withResolvers<{ readonly ok: true } | GuestFailed>();
  let loads: "running" | "done" = "running";
  let ran = false;
  let retired = false;
  let over = false;
  let told = 0;
  let words = 0;
  let events = 0;
  let calls = 0;

  function tell(text: ToGuest, limitMs: number): boolean {
    if (over) return true;
    const sent = guest.tell(JSON.stringify(text), limitMs);
    if (sent) told += 1;
    return sent;
  }

  function settle(id: number, outcome: Result<JsonValue> | GuestFailed): void {
    const wait = waiting.get(id);
    waiting.delete(id);
    wait?.(outcome);
    if (retired && waiting.size === 0) guest.close();
  }

  function finishLoad(outcome: { readonly ok: true } | GuestFailed): void {
    clearTimeout(loadTimer);
    loads = "done";
    if (!outcome.ok) retired = true;
    loading.resolve(outcome);
  }

  function abandon(failure: Failure, retry: boolean): void {
    retired = true;
    if (loads === "running") finishLoad(failed(failure, retry));
    for (const id of [...waiting.keys()]) settle(id, failed(failure, retry));
  }

  function explained(error: ErrorText): Failed {
    return fail("invalid", error.where === "" ? error.line : `${error.line} (${error.where})`, { cause: error });
  }

  async function serveCall(id: number, path: string): Promise<void> {
    calls += 1;
    const answer = await order.readFile(path);
    calls -= 1;
    if (tell({ k: "reply", id, ...answer }, 0)) return;
    tell({ k: "reply", id, ok: false, name: "Error", message: `"${path}" is too large to be handed over` }, 0);
  }

  function obey(word: FromGuest): void {
    switch (word.k) {
      case "loaded":
        ran = true;
        if (order.mode === "hook" && loads === "running") finishLoad({ ok: true });
        return;
      case "unloadable":
        if (loads === "running") finishLoad(failed(explained(order.program.explain(word.error)).failure, false));
        guest.close();
        return;
      case "answer":
        settle(word.id, ok(word.value as JsonValue));
        return;
      case "threw":
        settle(word.id, explained(order.program.explain(word.error)));
        return;
      case "log":
        order.log(word.to, word.text);
        return;
      case "call":
        return void serveCall(word.id, word.path);
      case "fault":
        order.fault(order.program.explain(word.error));
        return;
      case "exit":
        order.exit(word.code);
        return;
    }
  }

  function said(text: string): void {
    words += 1;
    const word = over ? undefined : readFromGuest(text);
    if (over) return;
    if (word && (order.wordsMax === 0 || words <= order.wordsMax)) {
      obey(word);
      return;
    }
    const message = word ? `sent more than ${order.wordsMax} messages` : "sent a message that makes no sense";
    abandon({ code: "exhausted", message }, false);
    guest.close();
  }

  /** With nothing running, no timer and no call under way, what has not come by now never will. */
  function idle(heard: number): void {
    if (over || heard !== told || calls > 0) return;
    if (order.mode === "script" && ran && loads === "running") {
      finishLoad({ ok: true });
      return;
    }
    if (loads === "running" || waiting.size > 0) {
      abandon({ code: "invalid", message: "waits for something that never comes" }, false);
      guest.close();
    }
  }

  const ears: GuestEars = {
    said,
    idle,
    fault: (stack) => order.fault(order.program.explainStack(stack)),
    ended(death: GuestDeath) {
      over = true;
      abandon({ code: death.code, message: showable(death.message) }, death.shared);
    },
    owes: () => waiting.size + (loads === "running" ? 1 : 0),
  };
  const loadTimer = setTimeout(() => {
    abandon({ code: "timed_out", message: `did not finish within ${order.loadWallMs} ms` }, false);
    guest.close();
  }, order.loadWallMs);
  const guest: Guest = host.openGuest(order.limits, ears);
  const { mode, name, program, args, env } = order;
  if (!tell({ k: "load", mode, source: program.source, name, args, env }, order.loadMs)) {
    abandon({ code: "exhausted", message: "is too large for an isolate" }, false);
    guest.close();
  }

  return {
    loaded: loading.promise,
    get usable() {
      return !retired && !over && events < EVENTS_MAX;
    },
    get busy() {
      return waiting.size > 0 || loads === "running";
    },
    fire(event, timeoutMs, signal) {
      events += 1;
      words = 0;
      const id = events;
      const { promise, resolve } = Promise.withResolvers<Result<JsonValue> | GuestFailed>();
      const give = (failure: Failure) => {
        retired = true;
        settle(id, failed(failure, false));
      };
      const timer = setTimeout(
        () => give({ code: "timed_out", message: `gave no answer within ${timeoutMs} ms` }),
        timeoutMs,
      );
      const stop = () => give({ code: "cancelled", message: "was interrupted" });
      signal.addEventListener("abort", stop, { once: true });
      waiting.set(id, (outcome) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        resolve(outcome);
      });
      if (signal.aborted) stop();
      else if (!tell({ k: "event", id, event }, 0)) {
        settle(id, fail("exhausted", "was not asked: the event is larger than a hook can take"));
      } else if (over) settle(id, failed({ code: "unavailable", message: "lost its process" }, false));
      return promise;
    },
    close() {
      retired = true;
      guest.close();
    },
  };
}
