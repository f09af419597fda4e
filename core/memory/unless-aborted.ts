import { fail, type Result } from "../domain/failure.ts";

/** Answers `cancelled` as soon as the signal aborts; the work itself ends on its own. `what` begins the sentence. */
export async function unlessAborted<T>(
  work: Promise<Result<T>>,
  signal: AbortSignal,
  what: string,
): Promise<Result<T>> {
  if (signal.aborted) return stopped(what);
  const { promise, resolve } = Promise.withResolvers<Result<T>>();
  const abort = () => resolve(stopped(what));
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

export function stopped(what: string): Result<never> {
  return fail("cancelled", `${what} was stopped`, { hint: "start it again" });
}
