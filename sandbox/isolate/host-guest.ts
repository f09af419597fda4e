import type { CallAnswer, RejectionReason, ToGuest } from "../guest/guest-protocol.ts";
import type { BootedIsolate, Outbox, StandDoor } from "./booted-isolate.ts";
import { type HostAnswers, readHostWord } from "./host-answers.ts";
import { type FromHost, type GuestEnd, type GuestLimits, LOADED } from "./host-protocol.ts";
import type { RestNews } from "./rest-news.ts";
import type { SliceMark, SliceWatch } from "./slice-watch.ts";
import type { Leave, SlotQueue } from "./slot-queue.ts";

/** One isolate with its guest inside the hook host. */
export type HostGuest = {
  /** Enters the guest with a text, after what is already waiting. `limitMs` 0 means its own slice. */
  tell(text: string, limitMs: number): void;
  /** The same, with a new account of active time. */
  ask(text: string, limitMs: number): void;
  /** The same, but not before the guest has said that it is loaded. One at a time. */
  askLoaded(text: string, limitMs: number): void;
  /** Hands over what it stands still for. */
  answer(text: string): void;
  /** Disposes the isolate and says so, once. */
  end(why: GuestEnd): void;
};

/** What all guests of a process share. */
export type GuestHouse = {
  readonly slots: SlotQueue;
  readonly slices: SliceWatch;
  readonly rests: RestNews;
  /** Milliseconds. */
  now(): number;
  /** False when the message is larger than a frame may be. */
  send(message: FromHost): boolean;
};

/** Longest sleep of a timer, milliseconds: what `setTimeout` of Node can carry. */
const WAKE_MAX_MS = 2 ** 31 - 1;
/** How much of an uncaught error is passed on, UTF-16 units. */
const FAULT_CHARS = 8192;
const WAKE_TEXT = JSON.stringify({ k: "wake" } satisfies ToGuest);
/** isolated-vm appends the host's own frames below this line; a guest must not learn them. */
const BOUNDARY = "(<isolated-vm boundary>)";

type Failed = { readonly end: "slice" | "memory" } | { readonly fault: string; readonly reason: RejectionReason };

/** What isolated-vm says of an object that is no error; text of version 7. */
const SOME_OBJECT = /^An object was thrown from supplied code within isolated-vm/;

function readPrimitive(value: unknown): Failed {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  const type = value === null ? "null" : (typeof value as "string" | "number" | "boolean" | "bigint" | "undefined");
  const fault = text.slice(0, FAULT_CHARS);
  return { fault, reason: { type, text: typeof value === "string" ? value.slice(0, FAULT_CHARS) : fault } };
}

/** What isolated-vm's error says about the slice; texts of version 7. It is a copy, and nothing of the guest's runs here. */
function readFailure(error: unknown): Failed {
  if (typeof error !== "object" || error === null) return readPrimitive(error);
  const { name, message, stack } = error as { name?: unknown; message?: unknown; stack?: unknown };
  if (message === "Script execution timed out.") return { end: "slice" };
  if (typeof message === "string" && /^Isolate (?:was|is) (?:already )?disposed/.test(message))
    return { end: "memory" };
  const cut = (text: unknown) => String(text).slice(0, FAULT_CHARS);
  const own = typeof stack === "string" ? (stack.split(BOUNDARY)[0] ?? "").replace(/\n\s*at\s*$/, "") : "";
  if (typeof message === "string" && SOME_OBJECT.test(message))
    return { fault: cut(own || message), reason: { type: "object", text: "" } };
  const told = { name: cut(name), message: cut(message), stack: cut(own) };
  return { fault: cut(own || message), reason: { type: "error", error: told } };
}

/**
 * Gives an isolate to a guest. Every entry, also for a timer, is a slice under a time limit; one that does not even end
 * after it is reported as stuck, because nothing but SIGKILL stops it.
 */
export function seatGuest(
  { isolate, hear, own, standDoor }: BootedIsolate,
  id: number,
  limits: GuestLimits,
  answers: HostAnswers,
  { slots, slices, rests, now, send }: GuestHouse,
  onEnd: () => void,
): HostGuest {
  let over = false;
  let heard = 0;
  /** Entries that wait or run, and jobs of the host under way. */
  let waiting = 0;
  /** Entries that wait. */
  let queued = 0;
  /** It waits from the moment it was asked for: what comes before its first turn is not its own time. */
  let saidQueued = true;
  let alarm: NodeJS.Timeout | undefined;
  let activeMs = 0;
  let loaded = false;
  /** Waits for the load; counts as heard, so that a guest at rest is known to be. */
  let onLoaded: (() => void) | undefined;
  /** The slice that runs. */
  let slice: { mark: SliceMark; readonly limitMs: number; readonly startedMs: number; stoodMs: number } | undefined;
  /** What it stands still for. */
  let standing: { readonly sinceMs: number; resolve(text: string): void } | undefined;
  let door = limits.mayStand ? standDoor(stand) : undefined;

  function wakeIn(text: string): void {
    clearTimeout(alarm);
    alarm = undefined;
    const inMs = Number(text);
    if (text === "" || !Number.isFinite(inMs) || over) return;
    rests.unrest(id);
    alarm = setTimeout(
      () => {
        alarm = undefined;
        enter(WAKE_TEXT, limits.sliceMs, false);
      },
      Math.min(Math.max(inMs, 1), WAKE_MAX_MS),
    );
  }

  function end(why: GuestEnd): void {
    if (over) return;
    over = true;
    clearTimeout(alarm);
    slots.drop(id);
    rests.unrest(id);
    answers.close();
    onEnd();
    if (!isolate.isDisposed) isolate.dispose();
    send({ did: "ended", guest: id, why });
  }

  function beginJob(text: string): void {
    waiting += 1;
    rests.unrest(id);
    const begun = answers.job(text, (call: number, answer: CallAnswer) => {
      waiting -= 1;
      if (!over) enter(JSON.stringify({ k: "reply", id: call, answer } satisfies ToGuest), limits.sliceMs, false);
    });
    if (begun) return;
    waiting -= 1;
    end("size");
  }

  // Runs on the host's thread while the guest waits. It must not throw: the guest would see our stack.
  function said(text: string): string | number {
    if (over) return 0;
    const own = readHostWord(text);
    switch (own?.word) {
      case "random":
        return answers.random(own.rest);
      case "library":
        return answers.library(own.rest);
      case "wake":
        wakeIn(own.rest);
        return 1;
      case "job":
        beginJob(own.rest);
        return 1;
      case undefined:
        if (!send({ did: "said", guest: id, text })) end("size");
        return 1;
    }
  }

  function watchSlice(limitMs: number): SliceMark {
    return slices.begin(limitMs + limits.stuckMs, () => void send({ did: "stuck", guest: id }));
  }

  /** It waits in its own thread, and isolated-vm's clock stands still along with it. Disposing it ends the wait. */
  async function stand(text: unknown): Promise<string> {
    if (over || !slice || standing || typeof text !== "string") return "";
    slices.end(slice.mark);
    const { promise, resolve } = Promise.withResolvers<string>();
    standing = { sinceMs: now(), resolve };
    if (!send({ did: "said", guest: id, text })) end("size");
    return promise;
  }

  function answer(text: string): void {
    heard += 1;
    if (!standing || !slice || over) return;
    slice.stoodMs += now() - standing.sinceMs;
    slice.mark = watchSlice(Math.max(slice.limitMs - (now() - slice.startedMs - slice.stoodMs), 0));
    standing.resolve(text);
    standing = undefined;
  }

  function collect(outbox: Outbox): void {
    if (outbox.loaded && !loaded) {
      loaded = true;
      send({ did: "said", guest: id, text: LOADED });
      onLoaded?.();
    }
    if (outbox.answer !== "" && !send({ did: "said", guest: id, text: outbox.answer })) end("size");
  }

  function settled(failed: Failed | undefined, cutShort: boolean): void {
    if (over) return;
    if (failed && "end" in failed) {
      end(failed.end === "slice" && cutShort ? "active" : failed.end);
      return;
    }
    if (failed) send({ did: "fault", guest: id, text: failed.fault });
    if (waiting === 0 && alarm === undefined) rests.rest(id, () => void send({ did: "idle", guest: id, heard }));
  }

  /** Tells when it begins and ceases to wait for others; waiting for itself is its own time. */
  function tellQueue(): void {
    const waits = queued > 0 && !slots.isRunning(id) && !over;
    if (waits === saidQueued) return;
    saidQueued = waits;
    send({ did: waits ? "waits" : "turn", guest: id });
  }

  function run(text: string, sliceMs: number, leave: Leave, after?: "rejection"): void {
    const leftMs = Math.max(Math.ceil(limits.activeMs - activeMs), 1);
    const limitMs = Math.min(sliceMs, leftMs);
    const running = { mark: watchSlice(limitMs), limitMs, startedMs: now(), stoodMs: 0 };
    slice = running;
    const done = (failed?: Failed, outbox?: Outbox) => {
      slices.end(running.mark);
      slice = undefined;
      activeMs += now() - running.startedMs - running.stoodMs;
      // The guest hears of a rejection before anything else happens in it, but of none that its hearing has left behind.
      if (failed && "reason" in failed && after === undefined && !over) {
        const rejected: ToGuest = { k: "rejected", reason: failed.reason };
        run(JSON.stringify(rejected), limits.sliceMs, leave, "rejection");
        return;
      }
      if (outbox && !over) collect(outbox);
      waiting -= 1;
      leave();
      settled(failed, leftMs < sliceMs);
      tellQueue();
    };
    const args: [string, StandDoor?] = door ? [text, door] : [text];
    door = undefined;
    hear.apply(undefined, args, { timeout: limitMs, result: { copy: true } }).then(
      (outbox) => done(undefined, outbox),
      (error: unknown) => done(readFailure(error)),
    );
  }

  function enter(text: string, limitMs: number, told: boolean): void {
    waiting += 1;
    queued += 1;
    rests.unrest(id);
    slots.enter(id, (leave) => {
      queued -= 1;
      if (over) return leave();
      tellQueue();
      if (told) heard += 1;
      run(text, limitMs, leave);
    });
    tellQueue();
  }

  own({ said, lost: () => void send({ did: "stuck", guest: id }) });
  const ownSlice = (limitMs: number) => (limitMs === 0 ? limits.sliceMs : limitMs);
  function ask(text: string, limitMs: number, told: boolean): void {
    activeMs = 0;
    enter(text, ownSlice(limitMs), told);
  }

  return {
    tell: (text, limitMs) => enter(text, ownSlice(limitMs), true),
    ask: (text, limitMs) => ask(text, limitMs, true),
    askLoaded(text, limitMs) {
      if (loaded) return ask(text, limitMs, true);
      heard += 1;
      onLoaded = () => ask(text, limitMs, false);
    },
    answer,
    end,
  };
}
