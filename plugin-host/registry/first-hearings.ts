import type { Failure } from "../../core/domain/failure.ts";
import { waitFor } from "../link/wait.ts";
import type { LivePlugin } from "./live-plugin.ts";

/** A turn waits no longer for plugins that are asked what they offer for the first time. */
const LEARN_WAIT_MS = 10_000;

/** Plugins that offer tools while they run, asked for them before anybody needs one. */
export type FirstHearings = {
  /** Asks it in the background by starting it: that is the first thing it says. Each once, whatever comes of it. */
  hear(plugin: LivePlugin): void;
  /** It is another one now and may be asked again. */
  forget(name: string): void;
  /** Resolves when all of them were heard or have failed, at the latest after ten seconds. */
  heard(signal: AbortSignal): Promise<void>;
  /** Asks nobody any more. */
  close(): void;
};

/** @param onFailure hears why one could not be asked */
export function firstHearings(onFailure: (name: string, failure: Failure) => void): FirstHearings {
  const learning = new Map<string, Promise<void>>();
  const slow = new Set<string>();
  const closing = new AbortController();
  return {
    hear({ manifest: { name, dynamic }, supervisor }) {
      if (closing.signal.aborted || !dynamic || learning.has(name)) return;
      const heard = supervisor.acquire(closing.signal).then((held) => {
        if (held.ok) held.value.release();
        else onFailure(name, held.failure);
      });
      learning.set(name, heard);
    },
    forget(name) {
      learning.delete(name);
      slow.delete(name);
    },
    async heard(signal) {
      const unheard = [...learning].filter(([name]) => !slow.has(name));
      const waited = await waitFor(Promise.all(unheard.map(([, heard]) => heard)), LEARN_WAIT_MS, signal);
      // Its tools come when they come; nobody waits for it twice.
      if (waited.came === "timeout") for (const [name] of unheard) slow.add(name);
    },
    close: () => closing.abort(),
  };
}
