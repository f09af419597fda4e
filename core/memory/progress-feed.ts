/**
 * Runs a job and yields what it reports, then its result. Reports that nobody fetched in time are replaced by newer ones, so
 * a slow reader holds nothing up; a reader that leaves early stops the job and waits for its end.
 */
export async function* followJob<T>(
  job: (report: (value: T) => void, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  let latest: T | undefined;
  let finished = false;
  let wake = () => {};
  const report = (value: T) => {
    latest = value;
    wake();
  };
  const result = job(report, AbortSignal.any([signal, left.signal])).finally(() => {
    finished = true;
    wake();
  });
  const ended = result.then(
    () => undefined,
    () => undefined,
  );
  try {
    while (!finished) {
      if (latest === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const value = latest;
      latest = undefined;
      if (value !== undefined && !finished) yield value;
    }
    yield await result;
  } finally {
    left.abort();
    await ended;
  }
}
