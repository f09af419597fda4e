import type { Importance } from "../../domain/memory.ts";
import type { IndexGroup, SegmentInput } from "../lexical/index-document.ts";
import { GENERAL_TYPE, type KeptNote, type NoteFold } from "./note-fold.ts";

/** Above every id that a store gives to a piece of a file. */
const FIRST_ID = 2 ** 52;
/** More notes would make what one new note costs felt. */
const SEGMENT_LIMIT_NOTES = 4_096;

/** A segment is built anew when so much of it is gone. */
const REBUILT_SHARE = 0.25;

const WEIGHTS: Readonly<Record<Importance, number>> = { low: 0.8, normal: 1, high: 1.25, critical: 1.6 };

/** A segment over notes. */
export type NoteSegment = {
  readonly buffer: SharedArrayBuffer;
  /** 1 for each row whose note cannot be found any more; undefined when there is none. */
  readonly dead: Uint8Array | undefined;
};

function documentId(number: number): number {
  return FIRST_ID + number;
}

/** The number of the note with this id in segments; undefined for a piece of something else. */
export function noteNumber(id: number): number | undefined {
  return id < FIRST_ID ? undefined : id - FIRST_ID;
}

type Part = {
  readonly buffer: SharedArrayBuffer;
  /** The numbers of the notes, row by row, ascending. Those that were superseded have a row, too: they may come back. */
  readonly numbers: readonly number[];
  readonly dead: Uint8Array;
  deadRows: number;
};

type Build = { readonly numbers: readonly number[]; readonly input: SegmentInput };

/** How the parts will be: kept as they are, or built. */
export type SegmentPlan = {
  readonly parts: readonly (Part | Build)[];
  /** Every note below this number has its place in it. */
  readonly until: number;
};

/**
 * Segments that follow a fold. `plan` and `install` look at it at moments when everything in it is durable; between them
 * lies the building, and no other plan.
 */
export type NoteSegments = {
  plan(fold: NoteFold): SegmentPlan;
  /** Takes one buffer for each part of the plan that has an input, in order. */
  install(fold: NoteFold, plan: SegmentPlan, buffers: readonly SharedArrayBuffer[]): readonly NoteSegment[];
};

/**
 * A new note comes into a small segment; small ones join until they have some thousand notes, so that many notes lie in
 * few segments and none is rebuilt often. The row of one that is gone is marked, and left out when a quarter are.
 */
export function noteSegments(): NoteSegments {
  let parts: readonly Part[] = [];
  /** Notes below this number have their place in a part. */
  let covered = 0;

  function plan(fold: NoteFold): SegmentPlan {
    markDead(fold);
    const next = parts.flatMap((part) => withoutGone(fold, part));
    const fresh: number[] = [];
    for (let number = covered; number < fold.nextNumber; number += 1) {
      if (fold.byNumber.has(number)) fresh.push(number);
    }
    let numbers = fresh;
    for (let last = next.at(-1); last !== undefined && joins(last, numbers); last = next.at(-1)) {
      numbers = [...last.numbers.filter((number) => fold.byNumber.has(number)), ...numbers];
      next.pop();
    }
    for (let start = 0; start < numbers.length; start += SEGMENT_LIMIT_NOTES) {
      next.push(buildOf(fold, numbers.slice(start, start + SEGMENT_LIMIT_NOTES)));
    }
    return { parts: next, until: fold.nextNumber };
  }

  function install(fold: NoteFold, { parts: planned, until }: SegmentPlan, buffers: readonly SharedArrayBuffer[]) {
    const left = [...buffers];
    parts = planned.flatMap((part) => {
      if (!("input" in part)) return part;
      const buffer = left.shift();
      if (buffer === undefined) throw new Error("a segment of notes was planned and not built");
      return partOf(fold, part.numbers, buffer);
    });
    covered = until;
    markDead(fold);
    return parts.map(({ buffer, dead, deadRows }) => ({ buffer, dead: deadRows === 0 ? undefined : dead }));
  }

  /** Goes by what has changed since it was last asked. */
  function markDead(fold: NoteFold): void {
    for (const number of fold.changed) {
      if (number >= covered) continue;
      fold.changed.delete(number);
      const part = parts.find(({ numbers }) => number <= (numbers.at(-1) ?? -1));
      const row = part?.numbers.indexOf(number) ?? -1;
      if (part === undefined || row < 0) continue;
      const dead = isFindable(fold, number) ? 0 : 1;
      part.deadRows += dead - (part.dead[row] ?? 0);
      part.dead[row] = dead;
    }
  }

  return { plan, install };
}

/** A part whose next joining cannot wait is built anew, or is no more. */
function withoutGone(fold: NoteFold, part: Part): readonly (Part | Build)[] {
  const rows = part.numbers.length;
  if (part.deadRows < rows * REBUILT_SHARE) return [part];
  const numbers = part.numbers.filter((number) => fold.byNumber.has(number));
  if (rows - numbers.length < rows * REBUILT_SHARE) return [part];
  return numbers.length === 0 ? [] : [buildOf(fold, numbers)];
}

function joins({ numbers }: Part | Build, fresh: readonly number[]): boolean {
  return numbers.length < 2 * fresh.length && numbers.length + fresh.length <= SEGMENT_LIMIT_NOTES;
}

function buildOf(fold: NoteFold, numbers: readonly number[]): Build {
  const notes = numbers.flatMap((number) => noteAt(fold, number) ?? []);
  const groups = notes.map(groupOf);
  const documents = notes.map(({ number, type, labels, text, atMs }, group) => {
    const title = [...(type === GENERAL_TYPE ? [] : [type]), ...labels].join(", ");
    return { id: documentId(number), group, title, text, atMs };
  });
  return { numbers, input: { groups, documents } };
}

function groupOf({ id, author, scope, sessionId, labels, importance, expiresAtMs }: KeptNote): IndexGroup {
  return { key: id, kind: "note", author, scope, sessionId, labels, weight: WEIGHTS[importance], expiresAtMs };
}

function partOf(fold: NoteFold, numbers: readonly number[], buffer: SharedArrayBuffer): Part {
  const dead = Uint8Array.from(numbers, (number) => (isFindable(fold, number) ? 0 : 1));
  return { buffer, numbers, dead, deadRows: dead.reduce((sum, row) => sum + row, 0) };
}

function isFindable(fold: NoteFold, number: number): boolean {
  return noteAt(fold, number)?.supersededBy === "";
}

function noteAt(fold: NoteFold, number: number): KeptNote | undefined {
  return fold.notes.get(fold.byNumber.get(number) ?? "");
}
