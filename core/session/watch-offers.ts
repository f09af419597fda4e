import type { OfferNews } from "../domain/tool.ts";

/**
 * Goes on at once, and then whenever tools or slash commands may be others; changes that come while the listener is busy are one.
 * Ends when the signal aborts.
 */
export async function* watchOffers(
  news: OfferNews | undefined,
  signal: AbortSignal,
): AsyncGenerator<void, void, undefined> {
  let isChanged = true;
  let wake = (): void => {};
  const changed = () => {
    isChanged = true;
    wake();
  };
  const stopHearing = news?.(changed);
  const stop = () => wake();
  signal.addEventListener("abort", stop, { once: true });
  try {
    while (!signal.aborted) {
      if (isChanged) {
        isChanged = false;
        yield;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stopHearing?.();
  }
}
