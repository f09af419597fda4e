/**
 * Waits for work until the signal aborts and no longer, then answers `instead`. For work that may not look at its signal: it
 * ends on its own. Work that is done already wins against a signal that has aborted already.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, instead: () => T): Promise<T> {
  const over = Promise.withResolvers<T>();
  const stop = () => over.resolve(instead());
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
