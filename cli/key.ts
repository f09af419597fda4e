/**
 * Waits for one of the wanted keys on a terminal, without Enter. Undefined when `signal` says that the question is
 * settled, or when the terminal is gone.
 */
export function readKey(
  stdin: NodeJS.ReadStream,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    function finish(key: string | undefined): void {
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
      const pressed = bytes.toString().toLowerCase().split("");
      const key = pressed.find((character) => wanted.includes(character));
      if (key !== undefined) finish(key);
    }
    stdin.setRawMode(true);
    stdin.on("data", hear);
    stdin.once("end", give);
    signal.addEventListener("abort", give, { once: true });
    stdin.resume();
  });
}
