/** performance: the time since the isolate began, and marks. Runs inside the isolate. */

import { DOMException } from "./dom-exception.ts";
import { structuredClone } from "./guest-clone.ts";

/** Marks and measures that are kept; more push out the oldest. */
const ENTRIES_MAX = 1000;

// The only clock there is. It goes in whole milliseconds, and so does everything made from it.
const { now } = Date;
const timeOrigin = now();

export function elapsedMs(): number {
  return now() - timeOrigin;
}

type EntryFields = { name: string; entryType: string; startTime: number; duration: number; detail: unknown };
type MeasureOptions = {
  detail?: unknown;
  start?: string | number;
  duration?: number;
  end?: string | number;
};

const KEY = {};

export class PerformanceEntry {
  readonly #fields: EntryFields;

  constructor(key?: object, fields?: EntryFields) {
    if (key !== KEY || !fields) throw new TypeError("Illegal constructor");
    this.#fields = fields;
  }

  get name(): string {
    return this.#fields.name;
  }
  get entryType(): string {
    return this.#fields.entryType;
  }
  get startTime(): number {
    return this.#fields.startTime;
  }
  get duration(): number {
    return this.#fields.duration;
  }
  get detail(): unknown {
    return this.#fields.detail;
  }

  toJSON(): Record<string, unknown> {
    return { ...this.#fields };
  }

  get [Symbol.toStringTag](): string {
    return "PerformanceEntry";
  }
}

export class PerformanceMark extends PerformanceEntry {
  constructor(name: unknown, options: { detail?: unknown; startTime?: number } | null = {}) {
    if (arguments.length === 0) throw new TypeError("a mark needs a name");
    const startTime = options?.startTime === undefined ? elapsedMs() : Number(options.startTime);
    if (!(startTime >= 0)) throw new TypeError("a mark's startTime is not below 0");
    const detail = options?.detail === undefined ? null : structuredClone(options.detail);
    super(KEY, { name: String(name), entryType: "mark", startTime, duration: 0, detail });
  }

  override get [Symbol.toStringTag](): string {
    return "PerformanceMark";
  }
}

export class PerformanceMeasure extends PerformanceEntry {
  override get [Symbol.toStringTag](): string {
    return "PerformanceMeasure";
  }
}

export class Performance {
  readonly #entries: PerformanceEntry[] = [];

  constructor(key?: object) {
    if (key !== KEY) throw new TypeError("Illegal constructor");
  }

  get timeOrigin(): number {
    return timeOrigin;
  }

  now(): number {
    return elapsedMs();
  }

  mark(name: unknown, options: { detail?: unknown; startTime?: number } | null = {}): PerformanceMark {
    return this.#keep(new PerformanceMark(name, options));
  }

  measure(name: unknown, startOrOptions?: string | MeasureOptions | null, endMark?: string): PerformanceMeasure {
    const options =
      typeof startOrOptions === "object" && startOrOptions !== null
        ? startOrOptions
        : {
            ...(startOrOptions == null ? {} : { start: startOrOptions }),
            ...(endMark == null ? {} : { end: endMark }),
          };
    const { start, duration, end } = options as MeasureOptions;
    const detail = (options as MeasureOptions).detail;
    let until = elapsedMs();
    if (end !== undefined) until = this.#timeOf(end);
    else if (start !== undefined && duration !== undefined) until = this.#timeOf(start) + duration;
    let from = 0;
    if (start !== undefined) from = this.#timeOf(start);
    else if (duration !== undefined && end !== undefined) from = until - duration;
    return this.#keep(
      new PerformanceMeasure(KEY, {
        name: String(name),
        entryType: "measure",
        startTime: from,
        duration: until - from,
        detail: detail === undefined ? null : structuredClone(detail),
      }),
    );
  }

  clearMarks(name?: unknown): void {
    this.#clear("mark", name);
  }

  clearMeasures(name?: unknown): void {
    this.#clear("measure", name);
  }

  getEntries(): PerformanceEntry[] {
    return this.#entries.toSorted((one, other) => one.startTime - other.startTime);
  }

  getEntriesByType(type: unknown): PerformanceEntry[] {
    return this.getEntries().filter((entry) => entry.entryType === String(type));
  }

  getEntriesByName(name: unknown, type?: unknown): PerformanceEntry[] {
    return this.getEntries().filter(
      (entry) => entry.name === String(name) && (type === undefined || entry.entryType === String(type)),
    );
  }

  toJSON(): Record<string, unknown> {
    return { timeOrigin };
  }

  #keep<T extends PerformanceEntry>(entry: T): T {
    if (this.#entries.length >= ENTRIES_MAX) this.#entries.shift();
    this.#entries.push(entry);
    return entry;
  }

  #timeOf(mark: string | number): number {
    if (typeof mark === "number") {
      if (mark < 0) throw new TypeError("a time of a measure is not below 0");
      return mark;
    }
    const found = this.#entries.findLast((entry) => entry.entryType === "mark" && entry.name === String(mark));
    if (!found) throw new DOMException(`there is no mark "${mark}"`, "SyntaxError");
    return found.startTime;
  }

  #clear(type: string, name: unknown): void {
    const kept = this.#entries.filter(
      (entry) => entry.entryType !== type || (name !== undefined && entry.name !== String(name)),
    );
    this.#entries.splice(0, this.#entries.length, ...kept);
  }

  get [Symbol.toStringTag](): string {
    return "Performance";
  }
}

export function guestPerformance(): Performance {
  return new Performance(KEY);
}
