import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Journal, RESERVED_JOURNALS } from "../../core/domain/journal.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { PluginChange } from "../../proto/gen/clawd/v1/event_pb.ts";
import { openPluginRecords, PLUGINS_JOURNAL } from "./plugin-records.ts";

let dir = "";
let journal: Awaited<ReturnType<typeof open>>;

async function open() {
  const opened = await openJournal({ dir, now: () => 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

async function kinds(from: Journal): Promise<string[]> {
  const found: string[] = [];
  const events = from.read(PLUGINS_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
  for await (const event of events) found.push(event.body.case ?? "");
  return found;
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-plugin-records-"));
  journal = await open();
});
afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true });
});

test("its journal is reserved, and is not made before there is something to keep", async () => {
  expect(RESERVED_JOURNALS.has(PLUGINS_JOURNAL)).toBe(true);
  const records = openPluginRecords(journal);
  expect(await records.get("a", "k")).toEqual({ ok: true, value: undefined });
  expect(await records.clear("a")).toMatchObject({ ok: true });
  expect(await kinds(journal)).toEqual([]);
});

test("what a plugin keeps is there for whoever opens the journal next, each plugin's own", async () => {
  const records = openPluginRecords(journal);
  await Promise.all([
    records.set("a", "k", { n: [1, null] }),
    records.set("a", "gone", 1),
    records.delete("a", "gone"),
    records.set("b", "k", "other"),
  ]);
  const again = openPluginRecords(journal);
  expect(await again.get("a", "k")).toEqual({ ok: true, value: { n: [1, null] } });
  expect(await again.list("a", "")).toEqual({ ok: true, value: ["k"] });
  expect(await again.get("b", "k")).toEqual({ ok: true, value: "other" });
  expect(await again.clear("a")).toMatchObject({ ok: true });
  expect(await again.list("a", "")).toEqual({ ok: true, value: [] });
  expect(await again.get("b", "k")).toEqual({ ok: true, value: "other" });
});

test("what people did, how a process died and what was decided stand in one journal", async () => {
  const records = openPluginRecords(journal);
  const decision = { principal: "plugin:a", sourceHash: "ab", permission: "tool=read", resolved: "", ms: 0 } as const;
  await records.changed({ plugin: "a", change: PluginChange.INSTALLED, version: "1.0.0" });
  await records.died({ plugin: "a", version: "1.0.0", pid: 7, because: "was killed", callIds: ["c1"] });
  await records.decided({ ...decision, allowed: false, by: "rule", because: "not granted", leftOut: 0 });
  await records.set("a", "k", true);
  expect(await kinds(journal)).toEqual(["pluginChanged", "pluginDied", "permissionDecided", "pluginStored"]);
  expect(await journal.verify(PLUGINS_JOURNAL)).toMatchObject({ ok: true, value: { events: 4 } });
});

test("a value that cannot be written as JSON breaks nobody else's change of the same moment", async () => {
  const records = openPluginRecords(journal);
  const loop: Record<string, never> = {};
  Object.assign(loop, { loop });
  const other = records.set("b", "k", 1);
  await expect(async () => records.set("a", "k", loop)).rejects.toThrow(/circular/);
  expect(await other).toMatchObject({ ok: true });
});

test("of ten thousand keys a store takes a thousand, and each refusal says so", async () => {
  const records = openPluginRecords(journal);
  const results = await Promise.all(Array.from({ length: 10_000 }, (_, key) => records.set("a", `k${key}`, key)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(1000);
  expect(results.at(-1)).toMatchObject({ failure: { code: "exhausted", message: "a store has at most 1000 keys" } });
  expect(await records.set("b", "k", 1)).toMatchObject({ ok: true });
  expect(await openPluginRecords(journal).get("a", "k999")).toEqual({ ok: true, value: 999 });
});

describe("a budget for models", () => {
  const DAY_MS = 24 * 60 * 60_000;
  const noon = Date.UTC(2026, 10, 22, 12);
  const wanted = { plugin: "a", sessionId: "s", callId: "c", tokensPerDay: 100, promptTokens: 10 };

  test("is as long as it reaches, and begins anew with the day, but not with a clock that is put back", async () => {
    const records = openPluginRecords(journal);
    const begin = (generationId: string, maxTokens: number, atMs: number) =>
      records.beginGeneration({ ...wanted, generationId, maxTokens, atMs });
    const first = await begin("1", 50, noon);
    const second = await begin("2", 50, noon);
    expect(second).toMatchObject({ ok: true, value: { maxTokens: 30, day: "2026-11-22" } });
    expect(await begin("3", 50, noon)).toMatchObject({ ok: false, failure: { code: "exhausted" } });
    if (!first.ok || !second.ok) throw new Error("it was not begun");
    expect(await records.endGeneration(first.value, 20)).toEqual({ ok: true, value: { tokens: 20, left: 40 } });
    expect(await begin("4", 90, noon + DAY_MS)).toMatchObject({ ok: true, value: { maxTokens: 90 } });
    expect(await begin("5", 1, noon)).toMatchObject({ ok: false, failure: { code: "exhausted" } });
    // What began yesterday is no part of today.
    expect(await records.endGeneration(second.value, 30)).toMatchObject({ ok: true });
    expect(await records.checkGeneration({ ...wanted, plugin: "b", maxTokens: 1, atMs: noon })).toEqual({
      ok: true,
      value: 90,
    });
  });

  test("counts in full what nobody can count: an answer without a number, and one that a crash cut off", async () => {
    const records = openPluginRecords(journal);
    const begun = await records.beginGeneration({ ...wanted, generationId: "1", maxTokens: 20, atMs: noon });
    if (!begun.ok) throw new Error(begun.failure.message);
    expect(await records.endGeneration(begun.value, undefined)).toEqual({ ok: true, value: { tokens: 30, left: 70 } });
    await records.beginGeneration({ ...wanted, generationId: "2", maxTokens: 20, atMs: noon });
    const again = openPluginRecords(journal);
    const left = await again.checkGeneration({ ...wanted, maxTokens: 1, atMs: noon });
    expect(left).toEqual({ ok: true, value: 100 - 30 - 30 - 10 });
    expect(await kinds(journal)).toEqual(["pluginGenerated", "pluginGenerated", "pluginGenerated"]);
  });
});
