import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ok } from "../domain/failure.ts";
import { openJournal } from "../journal/jsonl-journal.ts";
import { openMemoryPlace } from "./fixtures/memory-bench.ts";

const SEARCHES = 20;

/** Would each of them wait as long as for a run of its own, there would be no time for all. */
test("searches wait for no run that something else is brought in by", { timeout: 38_000 }, async () => {
  const place = await openMemoryPlace((dir) => openJournal({ dir, now: () => 1_700_000_000_000 }));
  const stalled = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = {
    name: "plugin:slow/source",
    description: "slow",
    async *documents() {
      stalled.resolve();
      await goOn.promise;
      yield ok({ id: "1", title: "", text: "a wallaby at last" });
    },
  };
  try {
    await writeFile(join(place.source, "a.md"), "one kangaroo");
    await place.journal.create("chat");
    await place.journal.append("chat", 0, [
      { case: "userSpoke", value: { messageId: "m1", text: "a koala was here" } },
    ]);
    const rules = { rrf: "weighted", halfLifeDays: 0, vectorWeight: undefined } as const;
    const settings = { ...rules, conversations: true, storeLimitBytes: 0 };
    const memory = place.open({ settings, sources: () => [slow] });
    const signal = new AbortController().signal;
    for await (const _ of memory.index({ kind: "folder", folder: place.source }, signal));
    const running = memory.desk.bring({ kind: "source", name: slow.name }, signal);
    await stalled.promise;
    for (let search = 0; search < SEARCHES; search += 1) expect(await memory.find("kangaroo")).toHaveLength(1);
    goOn.resolve();
    expect((await running).ok).toBe(true);
    expect(await memory.find("wallaby")).toHaveLength(1);
    expect((await memory.find("koala"))[0]).toMatchObject({ kind: "conversation" });
  } finally {
    goOn.resolve();
    await place.close();
  }
});
