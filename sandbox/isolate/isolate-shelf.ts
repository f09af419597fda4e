import type { BootedIsolate, IsolateBoot } from "./booted-isolate.ts";

/** Isolates that are booted before anybody asks for one. */
export type IsolateShelf = {
  /** One that is ready, or one made now. Throws when there is no memory for it. */
  take(memoryMib: number): BootedIsolate;
};

/** For so long a guest that has just come has the processor for itself, milliseconds. */
const REFILL_AFTER_MS = 25;

/** Boots one isolate of `memoryMib` at once, and from then on keeps `kept` of them ready: none where there is one guest. */
export function isolateShelf(boot: IsolateBoot, memoryMib: number, kept: number): IsolateShelf {
  const ready: BootedIsolate[] = [];
  let filling = false;

  function add(): void {
    filling = false;
    try {
      boot.rehearse();
      ready.push(boot.boot(memoryMib));
    } catch {
      // No memory for spare ones: whoever needs one hears of it, if it is still so then.
      return;
    }
    fill();
  }

  function fill(): void {
    if (filling || ready.length >= kept) return;
    filling = true;
    setTimeout(add, REFILL_AFTER_MS);
  }

  ready.push(boot.boot(memoryMib));
  fill();
  return {
    take(wantedMib) {
      const first = wantedMib === memoryMib ? ready.shift() : undefined;
      fill();
      return first ?? boot.boot(wantedMib);
    },
  };
}
