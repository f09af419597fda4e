import type { BootedIsolate, IsolateBoot } from "./booted-isolate.ts";

/** Isolates that are booted before anybody asks for one. */
export type IsolateShelf = {
  /** One that is ready, or one made now. Throws when there is no memory for it. */
  take(memoryMib: number): BootedIsolate;
};

/** After the shelf lost one, how long the guest that took it has the processor for itself, milliseconds. */
const REFILL_AFTER_MS = 25;

/** Keeps `size` isolates of `memoryMib` ready; the first of them at once. */
export function isolateShelf(boot: IsolateBoot, memoryMib: number, size: number): IsolateShelf {
  const ready: BootedIsolate[] = [];
  let filling = false;

  function add(): void {
    filling = false;
    try {
      ready.push(boot.boot(memoryMib));
    } catch {
      // No memory for spare ones: whoever needs one hears of it, if it is still so then.
      return;
    }
    fill();
  }

  function fill(): void {
    if (filling || ready.length >= size) return;
    filling = true;
    setTimeout(add, REFILL_AFTER_MS);
  }

  if (size > 0) add();
  return {
    take(wantedMib) {
      const first = wantedMib === memoryMib ? ready.shift() : undefined;
      if (first) fill();
      return first ?? boot.boot(wantedMib);
    },
  };
}
