/** Ends a request whose server shows no sign of life. */
export type SilenceWatch = {
  /** Aborts when it was silent for too long. */
  readonly signal: AbortSignal;
  /** It was heard. */
  heard(): void;
  /** It need not be heard for so long beside its time. */
  excuse(ms: number): void;
  close(): void;
};

export function watchSilence(limitMs: number): SilenceWatch {
  const over = new AbortController();
  const expire = () => over.abort(new SilenceError(limitMs));
  let timer = setTimeout(expire, limitMs);
  const again = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(expire, ms);
  };
  return {
    signal: over.signal,
    heard: () => again(limitMs),
    excuse: (ms) => again(limitMs + ms),
    close: () => clearTimeout(timer),
  };
}

/** The server was silent for longer than it may be. */
export class SilenceError extends Error {
  constructor(limitMs: number) {
    super(`the server showed no sign of life for ${limitMs / 1000} s`);
  }
}
