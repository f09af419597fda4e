import { readFile } from "node:fs/promises";

/** What Linux queues unless somebody said otherwise. */
const QUEUE_EVENTS = 16_384;
const QUEUE_SETTING = "/proc/sys/fs/inotify/max_queued_events";
const WINDOW_MS = 1_000;

/**
 * Tells when events of watched folders may have been lost. The system has one queue for all watches of a thread; while the
 * thread is busy it fills, what comes then is dropped, and nobody says so. All of a full queue is heard in one go, so half
 * of it within a moment is taken for a full one.
 */
export type EventQueue = {
  /** One event was heard. */
  count(): void;
  close(): void;
};

/** @param limitEvents how many the system queues. @param lost called after a moment in which some may have been lost. */
export function watchEventQueue(limitEvents: number, lost: () => void): EventQueue {
  let heard = 0;
  let window: NodeJS.Timeout | undefined;

  function end(): void {
    window = undefined;
    const full = heard >= limitEvents / 2;
    heard = 0;
    if (full) lost();
  }

  return {
    count() {
      heard += 1;
      window ??= setTimeout(end, WINDOW_MS).unref();
    },
    close: () => clearTimeout(window),
  };
}

/** How many events the system queues here. */
export async function readQueueLimit(): Promise<number> {
  const text = await readFile(QUEUE_SETTING, "utf8").catch(() => "");
  const events = Number.parseInt(text, 10);
  return events > 0 ? events : QUEUE_EVENTS;
}
