/** A forwarding parent and the terminal may both pass on one Ctrl-C; two within this time are one. */
const SAME_PRESS_MS = 100;

type SignalSource = {
  on(signal: Asking, heard: () => void): unknown;
  off(signal: Asking, heard: () => void): unknown;
};

/** Signals by which people and programs ask a program to end. */
type Asking = "SIGINT" | "SIGTERM";

/** Lets commands hear a signal, the last one that asked first. While none asks, it ends the program as usual. */
export function openInterrupts(
  source: SignalSource,
  nowMs: () => number,
  signal: Asking,
): (heard: () => void) => () => void {
  const hearers: (() => void)[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  function hear(): void {
    const atMs = nowMs();
    if (atMs - lastMs < SAME_PRESS_MS) return;
    lastMs = atMs;
    hearers.at(-1)?.();
  }
  return (heard) => {
    if (hearers.length === 0) source.on(signal, hear);
    hearers.push(heard);
    return () => {
      const at = hearers.lastIndexOf(heard);
      if (at >= 0) hearers.splice(at, 1);
      if (hearers.length === 0) source.off(signal, hear);
    };
  };
}
