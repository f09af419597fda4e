import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditedJournal } from "../domain/admin.ts";
import { type JsonlJournal, openJournal } from "../journal/jsonl-journal.ts";
import { journalAudit } from "./journal-audit.ts";

let home = "";
const opened: JsonlJournal[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-audit-"));
});

afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close();
  await rm(home, { recursive: true, force: true });
});

async function openWith(folder: string, id: string): Promise<JsonlJournal> {
  const made = await openJournal({ dir: join(home, folder), now: () => 0 });
  if (!made.ok) throw new Error(made.failure.message);
  opened.push(made.value);
  const value = { memoryId: "1", text: "kangaroo" };
  await made.value.create(id);
  const written = await made.value.append(id, 0, [{ case: "memoryRemembered", value }]);
  if (!written.ok) throw new Error(written.failure.message);
  return made.value;
}

const tell = (audited: readonly AuditedJournal[]) =>
  audited.map(({ name, chain }) => [name, chain.ok ? chain.value.events : chain.failure.code]);

test("an audit covers the journals of conversations and those of vector indices, and finds what was changed", async () => {
  const sessions = await openWith("sessions", "s1");
  const vectors = await openWith("vectors", "v1");
  const audit = journalAudit(sessions, async () => ({ ok: true, value: vectors }));
  const whole = [
    ["s1", 1],
    ["vectors/v1", 1],
  ];
  expect(tell(await audit.verify(""))).toEqual(whole);
  expect(tell(await audit.verify("vectors/v1"))).toEqual([["vectors/v1", 1]]);
  const file = join(home, "vectors", "v1.jsonl");
  await writeFile(file, (await readFile(file, "utf8")).replace("kangaroo", "wallaby!"));
  expect(tell(await audit.verify(""))).toEqual([
    ["s1", 1],
    ["vectors/v1", "corrupt"],
  ]);
});

test("without an index of vectors there is nothing more to audit", async () => {
  const sessions = await openWith("sessions", "s1");
  const audit = journalAudit(sessions, async () => undefined);
  expect(tell(await audit.verify(""))).toEqual([["s1", 1]]);
  expect(tell(await audit.verify("vectors/v1"))).toEqual([["vectors/v1", "not_found"]]);
});

test("vectors that cannot be opened are one line of the answer, and hide nothing else", async () => {
  const sessions = await openWith("sessions", "s1");
  const failure = { code: "conflict", message: "in use" } as const;
  const audit = journalAudit(sessions, async () => ({ ok: false, failure }));
  expect(tell(await audit.verify(""))).toEqual([
    ["s1", 1],
    ["vectors/", "conflict"],
  ]);
});
