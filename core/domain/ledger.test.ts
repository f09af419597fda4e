import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openJournal } from "../journal/jsonl-journal.ts";
import { fail, ok } from "./failure.ts";
import { openLedger } from "./ledger.ts";

let dir: string;
let journal: Awaited<ReturnType<typeof open>>;
async function open() {
  const opened = await openJournal({ dir, now: () => 0 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "ledger-"));
  journal = await open();
});
afterEach(async () => {
  await journal.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Counts what was said, by its text. */
function counted() {
  return openLedger<Map<string, number>>({
    journal,
    id: "counted",
    begin: () => new Map(),
    apply(counts, body) {
      if (body.case !== "hookStored") return;
      const { key = "" } = body.value;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  });
}
const said = (key: string) => ({ case: "hookStored", value: { hook: "h", key } }) as const;

test("work sees what the work before it decided, and another ledger over the same journal folds to the same", async () => {
  const ledger = counted();
  const first = ledger.append(said("a"), said("b"));
  const seen = ledger.work((counts) => ok({ bodies: [said("a")], value: counts.get("a") }));
  expect([await first, await seen]).toEqual([ok(undefined), ok(1)]);
  expect(await counted().read((counts) => [...counts])).toEqual(
    ok([
      ["a", 2],
      ["b", 1],
    ]),
  );
});

test("what is refused appends nothing, and nobody else is refused by that", async () => {
  const ledger = counted();
  const refused = ledger.work<void>(() => fail("exhausted", "no more"));
  const taken = ledger.append(said("a"));
  expect(await refused).toMatchObject({ ok: false, failure: { code: "exhausted", message: "no more" } });
  expect(await taken).toEqual(ok(undefined));
  expect(await ledger.read((counts) => [...counts])).toEqual(ok([["a", 1]]));
});

test("a rival's facts are folded in before the work is decided again", async () => {
  const [one, other] = [counted(), counted()];
  expect(await one.append(said("a"))).toEqual(ok(undefined));
  expect(await other.append(said("a"))).toEqual(ok(undefined));
  const seen = await one.work((counts) => ok({ bodies: [said("b")], value: counts.get("a") }));
  expect(seen).toEqual(ok(2));
});

test("a journal that cannot be read is a failure for everybody who asks", async () => {
  expect(await counted().append(said("a"), said("b"))).toEqual(ok(undefined));
  const [file] = readdirSync(dir).filter((name) => name.startsWith("counted"));
  appendFileSync(join(dir, file ?? ""), '{"broken":1}\n{"broken":2}\n');
  await journal.close();
  journal = await open();
  const ledger = counted();
  const answers = await Promise.all([ledger.read(() => 1), ledger.append(said("c"))]);
  expect(answers).toEqual([
    { ok: false, failure: expect.objectContaining({ code: "corrupt" }) },
    { ok: false, failure: expect.objectContaining({ code: "corrupt" }) },
  ]);
});
