import type ivm from "isolated-vm";
import { WAKE_PREFIX } from "./guest-protocol.ts";
import type { FromHost, GuestEnd, GuestLimits } from "./host-protocol.ts";
import type { SlotQueue } from "./slot-queue.ts";

/** One isolate inside the hook host. */
export type HostGuest = {
  /** Enters the guest with a text, after what is already waiting. `limitMs` 0 means its own slice. */
  tell(text: string, limitMs: number): void;
  /** Disposes the isolate and says so, once. */
  end(why: GuestEnd): void;
};

/** Longest sleep of a timer, milliseconds: what `setTimeout` of Node can carry. */
const WAKE_MAX_MS = 2 ** 31 - 1;
/** How much of an uncaught error is passed on, UTF-16 units. */
const FAULT_CHARS = 8192;
const WAKE_TEXT = JSON.stringify({ k: "wake" });
const PRELUDE_NAME = "clawd:prelude";
/** isolated-vm appends the host's own frames below this line; a guest must not learn them. */
const BOUNDARY = "(<isolated-vm boundary>)";

/** What isolated-vm's error says about the slice; texts of version 7. */
function readFailure(error: unknown): { end: GuestEnd } | { fault: string } {
  const { message, stack } = Object(error) as { message?: unknown; stack?: unknown };
  if (message === "Script execution timed out.") return { end: "slice" };
  if (typeof message === "string" && /^Isolate (?:was|is) (?:already )?disposed/.test(message))
    return { end: "memory" };
  const text =
    typeof stack === "string" ? (stack.split(BOUNDARY)[0] ?? "").replace(/\n\s*at\s*$/, "") : String(message);
  return { fault: text.slice(0, FAULT_CHARS) };
}

/**
 * Boots an isolate: the prelude gets one callback and leaves one function, and from then on only strings cross. Every
 * entry, also for a timer, is a slice under a time limit; one that does not even end after it is reported as stuck,
 * because nothing but SIGKILL stops it.
 */
export function openGuest(
  isolates: typeof ivm,
  prelude: string,
  id: number,
  limits: GuestLimits,
  slots: SlotQueue,
  send: (message: FromHost) => boolean,
  onEnd: () => void,
): HostGuest {
  let over = false;
  let heard = 0;
  /** Entries that wait or run. */
  let waiting = 0;
  let alarm: NodeJS.Timeout | undefined;

  const isolate = new isolates.Isolate({
    memoryLimit: limits.memoryMib,
    onCatastrophicError: () => void send({ did: "stuck", guest: id }),
  });

  function wakeIn(text: string): void {
    clearTimeout(alarm);
    alarm = undefined;
    const inMs = Number(text);
    if (text === "" || !Number.isFinite(inMs) || over) return;
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
    onEnd();
    if (!isolate.isDisposed) isolate.dispose();
    send({ did: "ended", guest: id, why });
  }

  // Runs on the host's thread while the guest waits. It must not throw: the guest would see our stack.
  function hearGuest(text: unknown): number {
    if (over || typeof text !== "string") return 0;
    if (text.startsWith(WAKE_PREFIX)) wakeIn(text.slice(WAKE_PREFIX.length));
    else if (!send({ did: "said", guest: id, text })) end("size");
    return 1;
  }

  function settled(failure: ReturnType<typeof readFailure> | undefined): void {
    if (over) return;
    if (failure && "end" in failure) {
      end(failure.end);
      return;
    }
    if (failure) send({ did: "fault", guest: id, text: failure.fault });
    if (waiting === 0 && alarm === undefined) send({ did: "idle", guest: id, heard });
  }

  function enter(text: string, limitMs: number, told: boolean): void {
    waiting += 1;
    slots.enter((leave) => {
      if (over || !hear) return leave();
      if (told) heard += 1;
      const stuck = setTimeout(() => send({ did: "stuck", guest: id }), limitMs + limits.stuckMs);
      const done = (failure?: ReturnType<typeof readFailure>) => {
        clearTimeout(stuck);
        waiting -= 1;
        leave();
        settled(failure);
      };
      hear.apply(undefined, [text], { timeout: limitMs }).then(
        () => done(),
        (error: unknown) => done(readFailure(error)),
      );
    });
  }

  let hear: ivm.Reference<(text: string) => void> | undefined;
  try {
    const context = isolate.createContextSync();
    hear = context.evalClosureSync(`let clawdHear;${prelude}\nreturn clawdHear;`, [new isolates.Callback(hearGuest)], {
      result: { reference: true },
      filename: PRELUDE_NAME,
    });
  } catch {
    end("error");
  }

  return { tell: (text, limitMs) => enter(text, limitMs === 0 ? limits.sliceMs : limitMs, true), end };
}
