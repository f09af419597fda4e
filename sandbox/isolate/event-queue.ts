/** Ends an event's turn, once; more often does nothing. */
export type EndTurn = () => void;

/**
 * The events of one trust group in their order: of one guest one at a time, in all so many at once. One that asks to be
 * `alone` goes before the others, and nobody else has a turn meanwhile.
 */
export type EventQueue = {
  /** Events that have their turn. */
  readonly busy: number;
  /** Whether the guest has its turn. */
  isBusy(guest: string): boolean;
  /** "full" at once when too many wait, "aborted" when the signal comes first, "late" after `waitMs`. */
  enter(guest: string, alone: boolean, signal: AbortSignal): Promise<EndTurn | "full" | "aborted" | "late">;
};

type Entry = { readonly guest: string; readonly alone: boolean; start(end: EndTurn): void };

/** @param onFree called whenever an event's turn has ended */
export function eventQueue(atOnceMax: number, waitingMax: number, waitMs: number, onFree: () => void): EventQueue {
  const waiting: Entry[] = [];
  const running = new Set<string>();
  let aloneRuns = false;

  function begin(entry: Entry): void {
    running.add(entry.guest);
    if (entry.alone) aloneRuns = true;
    let ended = false;
    entry.start(() => {
      if (ended) return;
      ended = true;
      running.delete(entry.guest);
      if (entry.alone) aloneRuns = false;
      pump();
      onFree();
    });
  }

  function pump(): void {
    for (let at = 0; at < waiting.length && !aloneRuns && running.size < atOnceMax; ) {
      const entry = waiting[at];
      if (!entry) return;
      // Nobody passes one who is to be alone.
      if (entry.alone && running.size > 0) return;
      if (running.has(entry.guest)) at += 1;
      else {
        waiting.splice(at, 1);
        begin(entry);
      }
    }
  }

  function insert(entry: Entry): void {
    const at = entry.alone ? waiting.findIndex((other) => !other.alone) : -1;
    if (at < 0) waiting.push(entry);
    else waiting.splice(at, 0, entry);
  }

  return {
    get busy() {
      return running.size;
    },
    isBusy: (guest) => running.has(guest),
    async enter(guest, alone, signal) {
      if (signal.aborted) return "aborted";
      if (!alone && waiting.length >= waitingMax) return "full";
      const { promise, resolve } = Promise.withResolvers<EndTurn | "aborted" | "late">();
      const entry: Entry = { guest, alone, start: resolve };
      insert(entry);
      pump();
      if (!waiting.includes(entry)) return promise;
      const give = (why: "aborted" | "late") => {
        const at = waiting.indexOf(entry);
        if (at < 0) return;
        waiting.splice(at, 1);
        resolve(why);
        pump();
      };
      const stop = () => give("aborted");
      signal.addEventListener("abort", stop, { once: true });
      const timer = setTimeout(() => give("late"), waitMs);
      const outcome = await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      return outcome;
    },
  };
}
