import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { done, spoke, storedEvents, textOf } from "../../tests/contracts/journal.ts";
import type { Event } from "../domain/event.ts";
import { JournalError } from "../domain/journal.ts";
import { type JsonlJournal, openJournal } from "./jsonl-journal.ts";

let dir: string;
let path: string;
let whole: Buffer;
/** Where each line begins, and the file's end. */
let starts: number[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "journal-"));
  path = join(dir, "s1.jsonl");
  await withJournal(async (journal) => {
    done(await journal.create("s1"));
    done(await journal.append("s1", 0, [spoke("a"), spoke("ü 👍")]));
    done(await journal.append("s1", 2, [spoke("c\n")]));
  });
  whole = await readFile(path);
  starts = [0];
  for (let end = whole.indexOf("\n"); end !== -1; end = whole.indexOf("\n", end + 1)) starts.push(end + 1);
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** Opens the folder as a daemon does that starts. */
async function withJournal<T>(work: (journal: JsonlJournal) => Promise<T>): Promise<T> {
  const journal = done(await openJournal({ dir, now: () => 1_700_000_000_000 }));
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

/** What a reader gets before the journal turns out to be broken, and how that is told. */
async function readUntilFlaw(journal: JsonlJournal): Promise<{ events: Event[]; error: unknown }> {
  const events: Event[] = [];
  try {
    const from = { after: 0, follow: false };
    for await (const event of journal.read("s1", from, new AbortController().signal)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

function flipped(at: number): Buffer {
  const bytes = Buffer.from(whole);
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  return bytes;
}

describe("a torn end", () => {
  test("is cut wherever in the file the write stopped, and the next append gets the number", async () => {
    for (let length = 0; length < whole.length; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      await withJournal(async (journal) => {
        // A line that lacks nothing but its newline is whole.
        const lines = starts.filter((start) => start > 0 && start <= length + 1).length;
        expect(await storedEvents(journal, "s1")).toHaveLength(lines);
        done(await journal.append("s1", lines, [spoke("next")]));
        const events = await storedEvents(journal, "s1");
        expect(events.map(textOf)).toEqual([...["a", "ü 👍", "c\n"].slice(0, lines), "next"]);
        expect(done(await journal.verify("s1")).events).toBe(lines + 1);
      });
    }
  });

  test("is cut when the file had its new length before its new bytes", async () => {
    const last = starts[2] ?? 0;
    const holes = [
      Buffer.concat([whole, Buffer.alloc(5000)]),
      Buffer.concat([whole.subarray(0, last + 10), Buffer.alloc(whole.length - last - 10)]),
      Buffer.concat([whole.subarray(0, last), Buffer.alloc(20), whole.subarray(last + 20)]),
    ];
    for (const [index, bytes] of holes.entries()) {
      await writeFile(path, bytes);
      const events = await withJournal((journal) => storedEvents(journal, "s1"));
      expect(events).toHaveLength(index === 0 ? 3 : 2);
      expect(await readFile(path)).toEqual(index === 0 ? whole : whole.subarray(0, last));
    }
  });

  test("that is longer than any line is cut all the same", async () => {
    await writeFile(path, Buffer.concat([whole, Buffer.from("x".repeat(1_000_000))]));
    expect(await withJournal((journal) => storedEvents(journal, "s1"))).toHaveLength(3);
    expect(await readFile(path)).toEqual(whole);
  });
});

describe("a finished line that is not what it was", () => {
  test("is found wherever a bit flips, nothing is cut, and the lines before it are read", async () => {
    // The newline that ends the file is the exception: without it the line was never finished.
    for (let at = 0; at < whole.length - 1; at += 1) {
      await writeFile(path, flipped(at));
      await withJournal(async (journal) => {
        const line = starts.filter((start) => start <= at).length;
        const { events, error } = await readUntilFlaw(journal);
        expect(events).toHaveLength(line - 1);
        expect(error).toBeInstanceOf(JournalError);
        const refusal = {
          ok: false,
          failure: { code: "corrupt", message: expect.stringContaining(`at line ${line}:`) },
        };
        expect(error).toMatchObject({ failure: refusal.failure });
        expect(await journal.verify("s1")).toMatchObject(refusal);
        expect(await journal.append("s1", 3, [spoke("x")])).toMatchObject(refusal);
      });
      expect(await readFile(path)).toEqual(flipped(at));
    }
  });

  test("is found when lines are missing, doubled or in another order", async () => {
    const [first, second, third] = [0, 1, 2].map((line) => whole.subarray(starts[line], starts[line + 1]));
    if (!first || !second || !third) throw new Error("three lines were written");
    const files = [
      [second],
      [first, third],
      [first, first],
      [first, third, second],
      [first, Buffer.from("\n"), second],
    ];
    for (const lines of files) {
      await writeFile(path, Buffer.concat(lines));
      const { error } = await withJournal(readUntilFlaw);
      expect(error).toMatchObject({ failure: { code: "corrupt" } });
    }
  });

  test("is found by verify while the daemon runs, and a good copy heals it", async () => {
    await withJournal(async (journal) => {
      expect(done(await journal.verify("s1")).events).toBe(3);
      await writeFile(path, flipped(30));
      expect(await journal.verify("s1")).toMatchObject({ failure: { code: "corrupt" } });
      await writeFile(path, "");
      await writeFile(path, whole);
      expect(done(await journal.verify("s1")).events).toBe(3);
      done(await journal.append("s1", 3, [spoke("d")]));
    });
  });
});
