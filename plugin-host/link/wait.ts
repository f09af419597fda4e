/** What came first: the value, the end of the time, or the abort. A rejection of the promise is passed on. */
export type Waited<T> =
  | { readonly came: "value"; readonly value: T }
  | { readonly came: "timeout" }
  | { readonly came: "abort" };

/**
 * Waits for a promise, but no longer than `timeoutMs` and no longer than the signal allows. No timer and no listener stays
 * behind, and a promise that rejects when nobody waits any more does no harm.
 */
export async function waitFor<T>(promise: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<Waited<T>> {
  if (signal?.aborted) {
    promise.catch(() => {});
    return { came: "abort" };
  }
  const first = Promise.withResolvers<Waited<T>>();
  const timer = setTimeout(() => first.resolve({ came: "timeout" }), timeoutMs);
  const onAbort = () => first.resolve({ came: "abort" });
  signal?.addEventListener("abort", onAbort, { once: true });
  promise.then((value) => first.resolve({ came: "value", value }), first.reject);
  try {
    return await first.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
