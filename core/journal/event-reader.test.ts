import { mkdtemp, readdir, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { done, spoke, storedEvents, textOf } from "../../tests/contracts/journal.ts";
import type { Event } from "../domain/event.ts";
import { type JsonlJournal, openJournal } from "./jsonl-journal.ts";

let dir: string;
let journal: JsonlJournal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "journal-"));
  journal = done(await openJournal({ dir, now: () => 1_700_000_000_000 }));
  done(await journal.create("s1"));
});

afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

function follower(after: number): AsyncIterator<Event> {
  return journal.read("s1", { after, follow: true }, new AbortController().signal)[Symbol.asyncIterator]();
}

async function nextText(events: AsyncIterator<Event>): Promise<string> {
  const next = await events.next();
  return next.done ? "(end)" : textOf(next.value);
}

test("a follower that sleeps through more than may be kept for it misses nothing and gets nothing twice", async () => {
  const slow = follower(0);
  done(await journal.append("s1", 0, [spoke("0")]));
  expect(await nextText(slow)).toBe("0");
  const filling = "x".repeat(100_000);
  for (let seq = 1; seq < 40; seq += 1) done(await journal.append("s1", seq, [spoke(`${seq} ${filling}`)]));
  for (let seq = 1; seq < 40; seq += 1) expect(await nextText(slow)).toBe(`${seq} ${filling}`);
  const live = nextText(slow);
  done(await journal.append("s1", 40, [spoke("live again")]));
  expect(await live).toBe("live again");
  await slow.return?.();
});

test("a follower that sleeps does not keep the events alive", async () => {
  const sleepers = Array.from({ length: 20 }, () => follower(0));
  done(await journal.append("s1", 0, [spoke("first")]));
  for (const one of sleepers) expect(await nextText(one)).toBe("first");
  const filling = "y".repeat(1_000_000);
  const released: WeakRef<Event>[] = [];
  for (let seq = 1; seq <= 30; seq += 1) {
    const [event] = done(await journal.append("s1", seq, [spoke(`${seq}${filling}`)]));
    if (event !== undefined) released.push(new WeakRef(event));
  }
  await collectGarbage();
  const alive = released.filter((ref) => ref.deref() !== undefined);
  expect(alive.length).toBeLessThanOrEqual(3);
  for (const one of sleepers) await one.return?.();
});

test("followers at every speed hear the same while many write", async () => {
  const paces = [0, 1, 5, 50];
  const heard = paces.map(async (pause) => {
    const seqs: number[] = [];
    for await (const event of journal.read("s1", { after: 0, follow: true }, new AbortController().signal)) {
      seqs.push(event.seq);
      if (seqs.length === 2000) break;
      if (pause > 0 && event.seq % pause === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return seqs;
  });
  let seq = 0;
  const writers = Array.from({ length: 16 }, async () => {
    while (seq < 2000) {
      const expected = seq;
      seq += 1;
      done(await journal.append("s1", expected, [spoke(`${expected}`)]));
    }
  });
  await Promise.all(writers);
  const wanted = Array.from({ length: 2000 }, (_, index) => index + 1);
  expect(await Promise.all(heard)).toEqual(paces.map(() => wanted));
});

test("followers that come while others write begin exactly where they ask to", async () => {
  const followers: Promise<boolean>[] = [];
  for (let seq = 0; seq < 200; seq += 1) {
    const appended = journal.append("s1", seq, [spoke(`${seq}`)]);
    const after = Math.max(0, seq - 3);
    followers.push(
      (async () => {
        let last = after;
        for await (const event of journal.read("s1", { after, follow: true }, new AbortController().signal)) {
          if (event.seq !== last + 1) return false;
          last = event.seq;
          if (last === 200) return true;
        }
        return false;
      })(),
    );
    done(await appended);
  }
  expect(new Set(await Promise.all(followers))).toEqual(new Set([true]));
});

test("a reader that stops early leaves nothing open, and one that began earlier ends where the journal ended then", async () => {
  done(
    await journal.append(
      "s1",
      0,
      Array.from({ length: 10 }, (_, index) => spoke(`${index}`)),
    ),
  );
  const heard: string[] = [];
  for await (const event of journal.read("s1", { after: 0, follow: false }, new AbortController().signal)) {
    heard.push(textOf(event));
    done(await journal.append("s1", 9 + heard.length, [spoke("later")]));
  }
  expect(heard).toHaveLength(10);
  for await (const event of journal.read("s1", { after: 0, follow: true }, new AbortController().signal)) {
    if (event.seq === 3) break;
  }
  expect(await storedEvents(journal, "s1")).toHaveLength(20);
  expect((await stat(join(dir, "s1.jsonl"))).size).toBeGreaterThan(0);
  await journal.close();
  const open = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  expect((await Promise.all(open)).filter((path) => path.startsWith(dir))).toEqual([]);
});

/** Events are weakly held by the test; a few rounds of pressure make V8 let them go. */
async function collectGarbage(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}
