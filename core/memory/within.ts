/** Resolves when the work is done, the time is over or the signal aborts, whichever comes first. */
export async function within(limitMs: number, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, limitMs);
  signal.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
