/** Waits for no port that does not look at its signal: undefined as soon as that aborts. */
export async function unlessOver<T>(asked: Promise<T | undefined>, limit: AbortSignal): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const stop = () => over.resolve(undefined);
  limit.addEventListener("abort", stop, { once: true });
  if (limit.aborted) stop();
  try {
    return await Promise.race([asked, over.promise]);
  } finally {
    limit.removeEventListener("abort", stop);
  }
}
