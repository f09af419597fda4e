import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";
import { HOOKS_MAX } from "./hook-folder.ts";

const HOOK = "/** @hook at=tool.before */\nexport default () => ({ block: 'no' });\n";

let dir = "";
let room: SandboxRoom;
/** What the room opens its hooks with; a test may put another journal in. */
const options: { journal: Awaited<ReturnType<typeof journalOf>> } = {} as never;

async function journalOf(folder: string) {
  const opened = await openJournal({ dir: folder, now: () => 1 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "clawd-removing-"));
  options.journal = await journalOf(dir);
  room = await openSandboxRoom({ wanted: "none", hooks: options });
});
afterEach(() => rm(room.hooksDir, { recursive: true, force: true }));
afterAll(async () => {
  await room.close();
  await options.journal.close();
  await rm(dir, { recursive: true });
});

test("a hook whose answers cannot be taken back stays, and is removed with them at another try", async () => {
  const file = await room.write("hooks/guard.ts", HOOK);
  await room.hooks.records.remember("hook:guard", { permission: "read=/x", allowed: true });
  await room.hooks.records.set("guard", "k", 1);
  await options.journal.close();
  expect(await room.hooks.admin.remove("guard")).toMatchObject({ ok: false });
  expect(existsSync(file)).toBe(true);

  options.journal = await journalOf(dir);
  const again = await room.reopen();
  expect(await again.records.grants("hook:guard")).toMatchObject({ value: [{ permission: "read=/x" }] });
  expect(await again.admin.remove("guard")).toMatchObject({ ok: true });
  expect(existsSync(file)).toBe(false);
  expect(await again.records.grants("hook:guard")).toEqual({ ok: true, value: [] });
  expect(await again.records.list("guard", "")).toEqual({ ok: true, value: [] });
});

test("a package is removed with what was kept for those of its hooks that are beyond the limit", async () => {
  for (let index = 0; index < HOOKS_MAX; index += 1) await room.write(`hooks/h${index}.ts`, HOOK);
  await room.write("hooks/pack/a.ts", HOOK);
  await room.write("hooks/zlast.ts", HOOK);
  const { admin, records } = await room.reopen();
  expect((await admin.list()).map(({ name }) => name)).toContain("hooks/");
  await records.remember("hook:pack/a", { permission: "read=/x", allowed: true });
  expect(await admin.remove("pack")).toMatchObject({ ok: true });
  expect(await records.grants("hook:pack/a")).toEqual({ ok: true, value: [] });
  expect(await admin.remove("zlast")).toMatchObject({ ok: true });
  expect((await admin.list()).map(({ name }) => name)).not.toContain("hooks/");
});

test("a broken settings file is removed by its name", async () => {
  const file = await room.write("hooks/broken.json", '{"hooks": {');
  const { admin } = await room.reopen();
  expect(await admin.remove("broken")).toMatchObject({ ok: true });
  expect(existsSync(file)).toBe(false);
});

test("what stands for a crowded folder is listed, blocks, and is neither removed, turned off nor added to", async () => {
  for (let index = 0; index <= HOOKS_MAX; index += 1) await room.write(`hooks/h${index}.ts`, HOOK);
  const { hooks, admin, records } = await room.reopen();
  await records.remember("hook:h0", { permission: "read=/x", allowed: true });
  await admin.enable("h1", false);
  const says = `the hooks folder holds ${HOOKS_MAX + 1} hooks, ${HOOKS_MAX} are the limit; remove some`;
  const failed = { ok: false, failure: { message: says } };
  const rows = await admin.list();
  expect(rows).toHaveLength(HOOKS_MAX + 1);
  expect(rows.filter(({ failure }) => failure).map(({ name, failure }) => [name, failure?.message])).toEqual([
    ["hooks/", says],
    ["h1", 'hook "h1" is turned off by a person'],
  ]);
  expect(rows.find(({ name }) => name === "h0")?.notes).toEqual(["a person answered for good: read=/x"]);
  expect(rows.find(({ name }) => name === "hooks/")).toMatchObject({ points: ["tool.before"], onError: "deny" });

  expect(await admin.remove("hooks/")).toMatchObject(failed);
  expect(await admin.enable("hooks/", false)).toMatchObject(failed);
  const mine = await room.write("mine/more.ts", HOOK);
  expect(await admin.add(mine)).toMatchObject(failed);
  const { answer } = await hooks.run(toolBefore({ tool: "x", args: {} }), conversation());
  expect(answer).toMatchObject({ do: "block", because: expect.stringContaining(says) });

  expect(await admin.remove("h0")).toMatchObject({ ok: true });
  expect((await admin.list()).filter(({ name }) => name === "hooks/")).toEqual([]);
  expect(await admin.add(mine)).toMatchObject({
    ok: false,
    failure: { code: "exhausted", message: `the hooks folder would hold ${HOOKS_MAX + 1} hooks, 256 are the limit` },
  });
  await admin.remove("h2");
  expect(await admin.add(mine)).toMatchObject({ ok: true, value: { name: "more" } });
});
