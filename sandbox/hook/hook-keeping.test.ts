import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { conversation, openSandboxRoom, type SandboxRoom, toolBefore } from "../fixtures/sandbox-room.ts";

let room: SandboxRoom;
beforeAll(async () => {
  room = await openSandboxRoom({ wanted: "auto" });
});
afterEach(async () => {
  for (const { name } of await room.hooks.admin.list()) await room.hooks.admin.remove(name ?? "");
  room.printed.length = 0;
});
afterAll(() => room.close());

const hook = (name: string, code: string, tags = "") =>
  room.write(`hooks/${name}.ts`, `/** @hook at=tool.before\n${tags} */\n${code}`);

async function fire(hooks = room.hooks, sessionId = "s1", talk = conversation()) {
  const { answer } = await hooks.hooks.run(toolBefore({ tool: "x", args: {} }, sessionId), talk);
  return answer;
}

test("what a hook stores is there in another session and after a restart, and no other hook sees it", async () => {
  const code = `export default async (event, clawd) => {
    const count = ((await clawd.store.get("count")) ?? 0) + 1;
    await clawd.store.set("count", count);
    await clawd.store.set("last/" + event.sessionId, { count });
    return { answer: [count, await clawd.store.list("last/")] };
  }`;
  await hook("counter", code);
  expect(await fire(room.hooks, "s1")).toEqual({ do: "answer", result: [1, ["last/s1"]] });
  expect(await fire(room.hooks, "s2")).toEqual({ do: "answer", result: [2, ["last/s1", "last/s2"]] });
  const again = await room.reopen();
  expect(await fire(again, "s1")).toEqual({ do: "answer", result: [3, ["last/s1", "last/s2"]] });
  await rm(join(room.hooksDir, "counter.ts"));
  await hook("other", code);
  expect(await fire()).toEqual({ do: "answer", result: [1, ["last/s1"]] });
});

test("a hook changes its store a hundred times in an event, and again in the next", async () => {
  await hook(
    "writer",
    `export default async (_, clawd) => {
      let done = 0;
      let error;
      for (let n = 0; n < 102; n += 1) await clawd.store.set("k" + n, n).then(() => { done += 1 }, (e) => { error = e.name });
      return { answer: [done, error] };
    }`,
    "@hook timeout=20s",
  );
  expect(await fire()).toEqual({ do: "answer", result: [100, "RangeError"] });
  expect(await fire()).toEqual({ do: "answer", result: [100, "RangeError"] });
});

test("a removed hook's store is gone", async () => {
  const code =
    "export default async (_, clawd) => { const k = await clawd.store.get('k'); await clawd.store.set('k', 1); return { answer: k ?? 'new' } }";
  await hook("keeper", code);
  expect(await fire()).toEqual({ do: "answer", result: "new" });
  expect(await fire()).toEqual({ do: "answer", result: 1 });
  expect(await room.hooks.admin.remove("keeper")).toMatchObject({ ok: true });
  await hook("keeper", code);
  expect(await fire()).toEqual({ do: "answer", result: "new" });
});

test("an answer for good is asked for once, and holds in other sessions and after a restart", async () => {
  const file = await room.write("word.txt", "word");
  await hook(
    "reader",
    `export default async () => ({ answer: await Deno.readTextFile(${JSON.stringify(file)}).catch((e) => e.name) })`,
  );
  const talk = conversation();
  talk.word = { said: "yes", scope: "always" };
  expect(await fire(room.hooks, "s1", talk)).toEqual({ do: "answer", result: "word" });
  expect(talk.questions).toEqual([{ principal: "hook:reader", permission: `read=${file}` }]);
  expect(talk.decisions.at(-1)).toMatchObject({ principal: "hook:reader", allowed: true, by: "person" });
  const later = conversation();
  expect(await fire(room.hooks, "s2", later)).toEqual({ do: "answer", result: "word" });
  expect(await fire(await room.reopen(), "s1", later)).toEqual({ do: "answer", result: "word" });
  expect(later.questions).toEqual([]);
  expect(later.decisions.at(-1)).toMatchObject({ allowed: true, by: "remembered" });
  const [row] = await room.hooks.admin.list();
  expect(row?.notes).toEqual([`a person answered for good: read=${file}`]);
});

test("a removed hook's answers for good are taken back, also from an isolate that has heard of them", async () => {
  const file = await room.write("word.txt", "word");
  const code = `export default async () => ({ answer: await Deno.readTextFile(${JSON.stringify(file)}).catch((e) => e.name) })`;
  await hook("reader", code);
  const talk = conversation();
  talk.word = { said: "yes", scope: "always" };
  await fire(room.hooks, "s1", talk);
  const later = conversation();
  expect(await fire(room.hooks, "s2", later)).toEqual({ do: "answer", result: "word" });
  await room.hooks.admin.remove("reader");
  await hook("reader", code);
  expect(await fire(room.hooks, "s2", later)).toEqual({ do: "answer", result: "NotCapable" });
  expect(later.questions).toHaveLength(1);
  expect((await room.hooks.admin.list())[0]?.notes).toEqual([]);
});

test("an answer for once is asked for again, and with nobody there it is no", async () => {
  const file = await room.write("word.txt", "word");
  await hook(
    "asker",
    `export default async () => ({ answer: await Deno.readTextFile(${JSON.stringify(file)}).catch((e) => e.name) })`,
  );
  const talk = conversation();
  talk.word = { said: "yes", scope: "once" };
  await fire(room.hooks, "s1", talk);
  await fire(room.hooks, "s1", talk);
  expect(talk.questions).toHaveLength(2);
  expect(await fire(room.hooks, "s2")).toEqual({ do: "answer", result: "NotCapable" });
});

test("a hook with other permissions than before has none of the old ones, though its code is the same", async () => {
  const file = await room.write("word.txt", "word");
  const code = `export default async () => ({ answer: await Deno.readTextFile(${JSON.stringify(file)}).catch((e) => e.name) })`;
  await hook("changing", code, `@allow read=${file}`);
  expect(await fire()).toEqual({ do: "answer", result: "word" });
  await hook("changing", code);
  expect(await fire()).toEqual({ do: "answer", result: "NotCapable" });
});

test("a hook calls tools in its own name when they are granted", async () => {
  const code =
    "export default async (_, clawd) => ({ answer: [await clawd.tool('read', { path: 'a' }), await clawd.tool('shell', {}).catch((e) => e.name)] })";
  await hook("caller", code, "@allow tool=read");
  const talk = conversation();
  expect(await fire(room.hooks, "s1", talk)).toEqual({ do: "answer", result: ["read did it", "NotCapable"] });
  expect(talk.calls).toEqual([{ principal: "hook:caller", tool: "read", args: { path: "a" } }]);
});

test("what is decided is recorded before it is done, and a record that fails stops it", async () => {
  await hook(
    "reader",
    `export default async () => ({ answer: await Deno.readTextFile("./word.txt").catch((e) => e.name) })`,
    "@allow read=./word.txt",
  );
  await room.write("hooks/word.txt", "word");
  const talk = {
    ...conversation(),
    record: async () => ({ ok: false, failure: { code: "unavailable", message: "full" } }) as const,
  };
  expect(await fire(room.hooks, "s1", talk)).not.toMatchObject({ result: "word" });
  const good = conversation();
  expect(await fire(room.hooks, "s1", good)).toEqual({ do: "answer", result: "word" });
  expect(good.decisions[0]).toMatchObject({ permission: `read=${room.hooksDir}/word.txt`, allowed: true, by: "rule" });
});

test("a trial's decisions are kept although no session is there", async () => {
  await hook("tried", `export default async () => { await Deno.readTextFile("/etc/hostname").catch(() => {}) }`);
  expect(await room.hooks.admin.test("tried", "", {})).toMatchObject({ ok: true, value: { answer: { do: "pass" } } });
});
