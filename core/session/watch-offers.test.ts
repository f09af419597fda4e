import { expect, test } from "vitest";
import { watchOffers } from "./watch-offers.ts";

test("a watcher hears at once, once for changes that come while it is busy, and leaves nothing behind", async () => {
  const listeners = new Set<() => void>();
  const news = (changed: () => void) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  };
  const over = new AbortController();
  const watching = watchOffers(news, over.signal);
  expect((await watching.next()).done).toBe(false);
  for (const tell of [...listeners, ...listeners]) tell();
  expect((await watching.next()).done).toBe(false);
  const third = watching.next();
  for (const tell of listeners) tell();
  expect((await third).done).toBe(false);
  const last = watching.next();
  over.abort();
  expect((await last).done).toBe(true);
  expect(listeners.size).toBe(0);
});
