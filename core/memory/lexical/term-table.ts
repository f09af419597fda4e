import { HASH_FACTOR, HASH_START } from "./unit-hash.ts";

// The terms of a segment that is being built: numbered as they are met, and in the end sorted by their UTF-8 bytes.

const FIRST_TERMS = 16_384;
const FIRST_BYTES = 131_072;
/** A unit of UTF-16 has no more in UTF-8: a pair of them has four. */
const UNIT_LIMIT_BYTES = 3;
const ASCII_LIMIT = 0x80;
/** Bytes that are compared at once. */
const KEY_BYTES = 4;
/** So few are sorted faster by putting each in its place. */
const FEW_TERMS = 12;

const encoder = new TextEncoder();

export type TermTable = {
  /** The number of a term: those before it were met earlier. */
  numberOf(term: string): number;
  size(): number;
  /** Of all terms together. */
  byteCount(): number;
  /** Numbers of the terms in the order of their bytes, so that the terms of a prefix stand together. */
  sorted(): Uint32Array;
  /** The bytes of a term. */
  bytesOf(number: number): Uint8Array;
};

export function createTermTable(): TermTable {
  let bytes = new Uint8Array(FIRST_BYTES);
  /** Where each term begins, and at last where the next one will. */
  let starts = new Uint32Array(FIRST_TERMS + 1);
  let hashes = new Int32Array(FIRST_TERMS);
  /** A term's number and 1, at a place that its hash says; 0 for none. At most half of the places are taken. */
  let slots = new Uint32Array(FIRST_TERMS * 2);
  let size = 0;

  function numberOf(term: string): number {
    const start = starts[size] ?? 0;
    const end = write(term, start);
    let hash = HASH_START;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_FACTOR);
    let slot = slotOf(hash);
    for (let taken = slots[slot] ?? 0; taken !== 0; taken = slots[slot] ?? 0) {
      if (hashes[taken - 1] === hash && isWritten(taken - 1, start, end)) return taken - 1;
      slot = (slot + 1) & (slots.length - 1);
    }
    hashes[size] = hash;
    slots[slot] = size + 1;
    size += 1;
    starts[size] = end;
    if (size === hashes.length) grow();
    return size - 1;
  }

  /** Behind the last term, where it stays if it is new. Gives its end. */
  function write(term: string, start: number): number {
    if (start + term.length * UNIT_LIMIT_BYTES > bytes.length) bytes = copied(bytes, new Uint8Array(bytes.length * 2));
    for (let at = 0; at < term.length; at += 1) {
      const unit = term.charCodeAt(at);
      if (unit >= ASCII_LIMIT) return start + encoder.encodeInto(term, bytes.subarray(start)).written;
      bytes[start + at] = unit;
    }
    return start + term.length;
  }

  function slotOf(hash: number): number {
    return (hash ^ (hash >>> 15)) & (slots.length - 1);
  }

  function isWritten(number: number, start: number, end: number): boolean {
    const from = starts[number] ?? 0;
    if ((starts[number + 1] ?? 0) - from !== end - start) return false;
    for (let at = 0; at < end - start; at += 1) if (bytes[from + at] !== bytes[start + at]) return false;
    return true;
  }

  function grow(): void {
    starts = copied(starts, new Uint32Array(size * 2 + 1));
    hashes = copied(hashes, new Int32Array(size * 2));
    slots = new Uint32Array(size * 4);
    for (let number = 0; number < size; number += 1) {
      let slot = slotOf(hashes[number] ?? 0);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number + 1;
    }
  }

  function sorted(): Uint32Array {
    const order = Uint32Array.from({ length: size }, (_, number) => number);
    sortSpan(order, { starts, bytes, keys: new BigUint64Array(size) }, 0);
    return order;
  }

  return {
    numberOf,
    size: () => size,
    byteCount: () => starts[size] ?? 0,
    sorted,
    bytesOf: (number) => bytes.subarray(starts[number] ?? 0, starts[number + 1] ?? 0),
  };
}

function copied<T extends Uint8Array | Uint32Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

type Sorting = {
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
  /** As many as there are terms in the span. */
  readonly keys: BigUint64Array<ArrayBuffer>;
};

/**
 * Sorts numbers of terms that are alike up to `depth`. The engine sorts plain numbers many times faster than by a function:
 * of each term the next four bytes and its number make one.
 */
function sortSpan(order: Uint32Array, { starts, bytes, keys }: Sorting, depth: number): void {
  if (order.length <= FEW_TERMS) {
    insertEach(order, starts, bytes, depth);
    return;
  }
  // Low word first: that is how this build's machines keep them, and the files of segments.
  const words = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2);
  for (let at = 0; at < order.length; at += 1) {
    const number = order[at] ?? 0;
    words[at * 2] = number;
    words[at * 2 + 1] = keyAt(bytes, (starts[number] ?? 0) + depth, starts[number + 1] ?? 0);
  }
  keys.sort();
  for (let at = 0; at < order.length; at += 1) order[at] = words[at * 2] ?? 0;
  for (let from = 0; from < order.length; ) {
    const key = words[from * 2 + 1];
    let to = from + 1;
    while (to < order.length && words[to * 2 + 1] === key) to += 1;
    // Terms differ, so that of those alike one at most ends here.
    const alike = { starts, bytes, keys: keys.subarray(from, to) };
    if (to - from > 1) sortSpan(order.subarray(from, to), alike, depth + KEY_BYTES);
    from = to;
  }
}

/** Four bytes as a number that is the larger the later they stand; none are zeros, which no term has. */
function keyAt(bytes: Uint8Array, at: number, end: number): number {
  let key = 0;
  for (let place = at; place < at + KEY_BYTES; place += 1) key = (key << 8) | (place < end ? (bytes[place] ?? 0) : 0);
  return key >>> 0;
}

function insertEach(order: Uint32Array, starts: Uint32Array, bytes: Uint8Array, depth: number): void {
  for (let at = 1; at < order.length; at += 1) {
    const number = order[at] ?? 0;
    let place = at;
    while (place > 0 && isBefore(number, order[place - 1] ?? 0, starts, bytes, depth)) {
      order[place] = order[place - 1] ?? 0;
      place -= 1;
    }
    order[place] = number;
  }
}

function isBefore(one: number, other: number, starts: Uint32Array, bytes: Uint8Array, depth: number): boolean {
  const oneEnd = starts[one + 1] ?? 0;
  const otherEnd = starts[other + 1] ?? 0;
  let at = (starts[one] ?? 0) + depth;
  let otherAt = (starts[other] ?? 0) + depth;
  for (; at < oneEnd && otherAt < otherEnd; at += 1, otherAt += 1) {
    const difference = (bytes[at] ?? 0) - (bytes[otherAt] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return at === oneEnd && otherAt < otherEnd;
}
