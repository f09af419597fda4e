import { fail, type Result } from "../domain/failure.ts";
import { unlessAborted as untilAborted } from "../domain/unless-aborted.ts";

/** Answers `cancelled` as soon as the signal aborts; the work itself ends on its own. `what` begins the sentence. */
export async function unlessAborted<T>(
  work: Promise<Result<T>>,
  signal: AbortSignal,
  what: string,
): Promise<Result<T>> {
  if (signal.aborted) return stopped(what);
  return untilAborted(work, signal, () => stopped(what));
}

export function stopped(what: string): Result<never> {
  return fail("cancelled", `${what} was stopped`, { hint: "start it again" });
}
