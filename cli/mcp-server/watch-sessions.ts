import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { House } from "./house.ts";

/** Sessions that one client may follow. */
const WATCHED_MAX = 32;
/** Events that come within this time are told as one change, milliseconds. */
const TELL_EVERY_MS = 200;

/** Tells a client that sessions changed. */
export type SessionWatch = {
  /** False when it follows too many already. */
  add(sessionId: string): boolean;
  remove(sessionId: string): void;
  close(): void;
};

export function openSessionWatch(house: House, changed: (sessionId: string) => void): SessionWatch {
  const watched = new Map<string, AbortController>();

  async function follow(sessionId: string, signal: AbortSignal): Promise<void> {
    let live = false;
    let tells = false;
    for await (const item of house.stream(SessionService.method.subscribe, { sessionId, follow: true }, signal)) {
      if (!item.ok) break;
      if (item.value.news.case === "caughtUp") live = true;
      if (item.value.news.case !== "event" || !live || tells) continue;
      tells = true;
      setTimeout(() => {
        tells = false;
        if (!signal.aborted) changed(sessionId);
      }, TELL_EVERY_MS).unref();
    }
    // It ended with its session or its daemon; whoever reads it finds out which.
    if (!signal.aborted) changed(sessionId);
    watched.delete(sessionId);
  }

  function remove(sessionId: string): void {
    watched.get(sessionId)?.abort();
    watched.delete(sessionId);
  }
  return {
    add(sessionId) {
      if (watched.has(sessionId)) return true;
      if (watched.size >= WATCHED_MAX) return false;
      const over = new AbortController();
      watched.set(sessionId, over);
      void follow(sessionId, over.signal);
      return true;
    },
    remove,
    close() {
      for (const sessionId of [...watched.keys()]) remove(sessionId);
    },
  };
}
