/** What the terminal already holds was typed before the question was there to be read, and is no answer to it. */
const TYPED_AHEAD_MS = 60;
const CONTROL_C = "\u0003";

/** Keys of one question. */
export type Keys = {
  /** The keys that answer, in lower case. */
  readonly wanted: readonly string[];
  /** Shows the question; from then on keys count. */
  readonly show: () => void;
};

/**
 * Waits for one of the wanted keys, or Ctrl-C, on a terminal, without Enter. Undefined when `signal` says that the
 * question is settled, or when the terminal is gone.
 */
export function readKey(stdin: NodeJS.ReadStream, keys: Keys, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let shown = false;
    const timer = setTimeout(() => {
      shown = true;
      keys.show();
    }, TYPED_AHEAD_MS);
    function finish(key: string | undefined): void {
      clearTimeout(timer);
      stdin.off("data", hear);
      stdin.off("end", give);
      signal.removeEventListener("abort", give);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(key);
    }
    function give(): void {
      finish(undefined);
    }
    function hear(bytes: Buffer | string): void {
      const text = bytes.toString();
      if (text.includes(CONTROL_C)) finish(CONTROL_C);
      else if (shown) {
        const key = pressedKey(text, keys.wanted);
        if (key !== undefined) finish(key);
      }
    }
    stdin.setRawMode(true);
    stdin.on("data", hear);
    stdin.once("end", give);
    signal.addEventListener("abort", give, { once: true });
    stdin.resume();
  });
}

/**
 * The wanted key that a piece of input is, perhaps pressed again or with Enter. A pasted text or the sequence of an arrow
 * key is none, whatever letters it holds.
 */
export function pressedKey(input: string, wanted: readonly string[]): string | undefined {
  const key = input.toLowerCase().replace(/[\r\n]+$/, "");
  const [first = ""] = key;
  return wanted.includes(first) && key === first.repeat(key.length) ? first : undefined;
}

export function isInterrupt(key: string | undefined): boolean {
  return key === CONTROL_C;
}
