import { SKETCH_LENGTH } from "../lexical/shingles.ts";

const SLOTS_LEAST = 1_024;
/** Of notes with one number in common the newest are enough: there may be thousands with the same words. */
const STEPS_LIMIT = 256;

/** Sketches of notes by their numbers in a row, and who else has a number of theirs in the same place. */
export type SketchTable = {
  readonly notes: number;
  /** Adds sketches, one behind the other, for the notes that come next. */
  add(more: Uint32Array): void;
  /** Other notes that have a number in common with this one, newest first. */
  alike(note: number): readonly number[];
};

/**
 * A hash table in typed arrays: an entry is a place in `sketches`, and leads to the one before it in its slot. A note takes
 * some 100 bytes; in a map of lists it would take a thousand.
 */
export function sketchTable(): SketchTable {
  let sketches = new Uint32Array(SLOTS_LEAST);
  let heads = new Int32Array(SLOTS_LEAST).fill(-1);
  let before = new Int32Array(SLOTS_LEAST);
  let entries = 0;

  function link(entry: number): void {
    const slot = slotOf(sketches[entry] ?? 0, heads.length);
    before[entry] = heads[slot] ?? -1;
    heads[slot] = entry;
  }

  function makeRoom(wanted: number): void {
    if (wanted <= sketches.length) return;
    let length = sketches.length;
    while (length < wanted) length *= 2;
    const wider = new Uint32Array(length);
    wider.set(sketches);
    sketches = wider;
    heads = new Int32Array(length).fill(-1);
    before = new Int32Array(length);
    for (let entry = 0; entry < entries; entry += 1) link(entry);
  }

  function alike(note: number): readonly number[] {
    const found = new Set<number>();
    for (let band = 0; band < SKETCH_LENGTH; band += 1) {
      const own = sketches[note * SKETCH_LENGTH + band] ?? 0;
      if (own === 0) continue;
      let entry = heads[slotOf(own, heads.length)] ?? -1;
      for (let step = 0; entry >= 0 && step < STEPS_LIMIT; step += 1) {
        if (sketches[entry] === own && entry % SKETCH_LENGTH === band) found.add(Math.floor(entry / SKETCH_LENGTH));
        entry = before[entry] ?? -1;
      }
    }
    found.delete(note);
    return [...found].sort((one, two) => two - one);
  }

  return {
    get notes() {
      return entries / SKETCH_LENGTH;
    },
    add(more) {
      makeRoom(entries + more.length);
      sketches.set(more, entries);
      for (let entry = entries; entry < entries + more.length; entry += 1) link(entry);
      entries += more.length;
    },
    alike,
  };
}

/** Sketches are hashes already; `slots` is a power of two. */
function slotOf(value: number, slots: number): number {
  return value & (slots - 1);
}
