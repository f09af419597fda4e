import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Journal } from "../../core/domain/journal.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { HOOKS_JOURNAL, openHookRecords } from "./hook-records.ts";

let dir = "";
let journal: Awaited<ReturnType<typeof open>>;

async function open() {
  const opened = await openJournal({ dir, now: () => 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

async function kinds(from: Journal): Promise<string[]> {
  const found: string[] = [];
  const events = from.read(HOOKS_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
  for await (const event of events) found.push(event.body.case ?? "");
  return found;
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-records-"));
  journal = await open();
});
afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true });
});

test("nothing is written before there is something to keep", async () => {
  const records = openHookRecords(journal);
  expect(await records.get("a", "k")).toEqual({ ok: true, value: undefined });
  expect(await records.delete("a", "k")).toMatchObject({ ok: true });
  expect(await kinds(journal)).toEqual([]);
});

test("what was kept is there for whoever opens the journal next, each hook's own", async () => {
  const records = openHookRecords(journal);
  await Promise.all([
    records.set("a", "k", { n: [1, null] }),
    records.set("a", "k2", "gone"),
    records.delete("a", "k2"),
    records.set("b", "k", "other"),
    records.remember("hook:a", { permission: "read=/x", allowed: true }),
    records.remember("hook:a", { permission: "read=/x", allowed: false }),
    records.switch("a", { enabled: false, because: "why", sourceHash: "h" }),
  ]);
  const again = openHookRecords(journal);
  expect(await again.get("a", "k")).toEqual({ ok: true, value: { n: [1, null] } });
  expect(await again.list("a", "")).toEqual({ ok: true, value: ["k"] });
  expect(await again.get("b", "k")).toEqual({ ok: true, value: "other" });
  expect(await again.grants("hook:a")).toEqual({ ok: true, value: [{ permission: "read=/x", allowed: false }] });
  expect(await again.switches()).toEqual({
    ok: true,
    value: new Map([["a", { enabled: false, because: "why", sourceHash: "h" }]]),
  });
  await again.clear("a");
  expect(await openHookRecords(journal).list("a", "")).toEqual({ ok: true, value: [] });
});

test("answers for good that were taken back stay so, and new ones hold", async () => {
  const records = openHookRecords(journal);
  await records.forgetGrants("hook:a");
  expect(await kinds(journal)).toEqual([]);
  await records.remember("hook:a", { permission: "read=/x", allowed: true });
  await records.remember("hook:b", { permission: "read=/x", allowed: true });
  await records.forgetGrants("hook:a");
  await records.remember("hook:a", { permission: "read=/y", allowed: false });
  for (const one of [records, openHookRecords(journal)]) {
    expect(await one.grants("hook:a")).toEqual({ ok: true, value: [{ permission: "read=/y", allowed: false }] });
    expect(await one.grants("hook:b")).toEqual({ ok: true, value: [{ permission: "read=/x", allowed: true }] });
  }
});

test("keys, values and stores have limits, and what is over them changes nothing", async () => {
  const records = openHookRecords(journal);
  expect(await records.set("a", "k".repeat(257), 1)).toMatchObject({ ok: false, failure: { code: "invalid" } });
  expect(await records.set("a", "", 1)).toMatchObject({ ok: false, failure: { code: "invalid" } });
  expect(await records.set("a", "k", "x".repeat(65_536))).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  const value = "x".repeat(65_000);
  const results = await Promise.all(Array.from({ length: 17 }, (_, index) => records.set("a", `k${index}`, value)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(16);
  expect(await records.set("a", "k0", "small")).toMatchObject({ ok: true });
  expect(await records.set("a", "k16", value)).toMatchObject({ ok: true });
});

test("a store has at most a thousand keys, also when they are asked for at once", async () => {
  const records = openHookRecords(journal);
  const results = await Promise.all(Array.from({ length: 1005 }, (_, index) => records.set("a", `k${index}`, index)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(1000);
  expect(await records.set("a", "k0", "again")).toMatchObject({ ok: true });
});

test("a long queue is worked off in the order of asking, also by those who come while it is", async () => {
  const records = openHookRecords(journal);
  const order: number[] = [];
  const ask = (n: number) => records.get("a", "k").then(() => void order.push(n));
  const first = Array.from({ length: 500 }, (_, n) => ask(n));
  await first[70];
  await Promise.all([...first, ...Array.from({ length: 500 }, (_, n) => ask(500 + n))]);
  expect(order).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

test("two writers of one journal lose nothing", async () => {
  const [one, two] = [openHookRecords(journal), openHookRecords(journal)];
  await one.set("a", "first", 1);
  await two.set("a", "second", 2);
  await one.set("a", "third", 3);
  expect(await openHookRecords(journal).list("a", "")).toEqual({ ok: true, value: ["first", "second", "third"] });
});

test("when it cannot be written nothing is kept, and nothing is told to be", async () => {
  const records = openHookRecords(journal);
  await records.set("a", "k", 1);
  await journal.close();
  expect(await records.set("a", "k", 2)).toMatchObject({ ok: false });
  journal = await open();
  expect(await openHookRecords(journal).get("a", "k")).toEqual({ ok: true, value: 1 });
});

test("a decision outside a session is an event like the others", async () => {
  const records = openHookRecords(journal);
  const decision = { principal: "script:/x.ts", sourceHash: "h", permission: "read=/etc", resolved: "/etc" } as const;
  await records.decided({ ...decision, allowed: false, by: "nobody", because: "nobody answered", ms: 1, leftOut: 0 });
  expect(await kinds(journal)).toEqual(["permissionDecided"]);
});
