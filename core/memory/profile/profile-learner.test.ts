import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { onlyProvider, type ScriptedReply, scriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import type { Journal } from "../../domain/journal.ts";
import { EMPTY_PROFILE } from "../../domain/profile.ts";
import { openJournal } from "../../journal/jsonl-journal.ts";
import { openProfileBook, PROFILE_JOURNAL } from "./profile-book.ts";
import { profileLearner } from "./profile-learner.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A learner over a real journal, with a conversation whose messages are counted. */
async function openSchool(replies: readonly ScriptedReply[], { cadence = 2, dir = "" } = {}) {
  const folder = dir || (await mkdtemp(join(tmpdir(), "clawd-profile-")));
  if (dir === "") closers.push(() => rm(folder, { recursive: true, force: true }));
  const opened = await openJournal({ dir: folder, now: () => 5_000 });
  if (!opened.ok) throw new Error(opened.failure.message);
  const journal = opened.value;
  closers.push(() => journal.close());
  const provider = scriptedProvider(replies);
  const lines: string[] = [];
  const book = openProfileBook(journal);
  const complain = (cause: unknown) => lines.push(`broke: ${cause}`);
  const parts = { book, journal, providers: onlyProvider(provider), cadence, complain };
  const learner = profileLearner({ ...parts, log: (line) => lines.push(line) });
  return { folder, journal, book, learner, lines, prompts: provider.prompts };
}

type School = Awaited<ReturnType<typeof openSchool>>;

/** Says something in a session, has a turn answer it, and waits for what is learned of it. */
async function converse({ journal, learner }: School, ...words: readonly string[]): Promise<void> {
  for (const text of words) {
    await say(journal, learner, text);
    await learner.turnDone("scripted/one");
  }
}

const said = new WeakMap<Journal, number>();

async function say(journal: Journal, learner: Pick<School["learner"], "heard">, text: string): Promise<void> {
  const seq = said.get(journal) ?? 0;
  if (seq === 0) await journal.create("chat");
  const written = await journal.append("chat", seq, [{ case: "userSpoke", value: { messageId: `m${seq}`, text } }]);
  if (!written.ok) throw new Error(written.failure.message);
  said.set(journal, seq + 1);
  learner.heard({ sessionId: "chat", seq: seq + 1 });
}

async function versionsOf({ book }: School) {
  const read = await book.history(100);
  return read.ok ? read.value : read.failure;
}

test("after so many messages there is one lesson of the newest, oldest first, and the next begins anew", async () => {
  const school = await openSchool([{ text: '{"who": "Ada"}' }, { text: '{"focus": "looms"}' }]);
  await converse(school, "one");
  expect(school.prompts).toHaveLength(0);
  await converse(school, "two");
  expect(school.prompts).toHaveLength(1);
  expect(JSON.stringify(school.prompts[0]?.messages)).toMatch(/one.*two/);
  await converse(school, "three");
  expect(school.prompts).toHaveLength(1);
  await converse(school, "four");
  expect(JSON.stringify(school.prompts[1]?.messages)).toMatch(/Ada.*three.*four/);
  expect(JSON.stringify(school.prompts[1]?.messages)).not.toContain("two");
  const by = { model: "scripted/one" };
  expect(await versionsOf(school)).toEqual([
    {
      number: 2,
      profile: { ...EMPTY_PROFILE, who: "Ada", focus: "looms" },
      atMs: 5_000,
      messages: 4,
      chars: 38,
      ...by,
    },
    { number: 1, profile: { ...EMPTY_PROFILE, who: "Ada" }, atMs: 5_000, messages: 2, chars: 18, ...by },
  ]);
  expect(school.lines).toEqual([]);
});

test("nothing new makes no version, and its messages were considered", async () => {
  const school = await openSchool([{ text: "{}" }, { text: '{"misc": "x"}' }]);
  await converse(school, "one", "two");
  expect(await versionsOf(school)).toEqual([]);
  await converse(school, "three", "four");
  expect(JSON.stringify(school.prompts[1]?.messages)).not.toContain("two");
  expect(await versionsOf(school)).toMatchObject([{ number: 1, messages: 4 }]);
});

test("an answer that is no profile is a line in the log; its messages are in the next lesson, after as many more", async () => {
  const school = await openSchool([{ text: "who knows" }, { text: '{"who": "Ada"}' }]);
  await converse(school, "one", "two");
  expect(school.lines).toEqual([expect.stringContaining("not one JSON object")]);
  await converse(school, "three");
  expect(school.prompts).toHaveLength(1);
  await converse(school, "four");
  expect(JSON.stringify(school.prompts[1]?.messages)).toMatch(/one.*two.*three.*four/);
  await converse(school, "five");
  expect(await versionsOf(school)).toMatchObject([{ number: 1, messages: 4 }]);
});

test("a profile that is too long is made shorter once, after the next turn", async () => {
  const long = JSON.stringify({ misc: "m".repeat(2_100) });
  const school = await openSchool([{ text: long }, { text: "{}" }, { text: '{"misc": "short"}' }]);
  await converse(school, "one", "two");
  await converse(school, "three");
  expect(JSON.stringify(school.prompts[1]?.messages)).toContain("too long");
  expect(await versionsOf(school)).toHaveLength(1);
  await converse(school, "four");
  expect(school.prompts).toHaveLength(2);
  await converse(school, "five");
  expect(await versionsOf(school)).toMatchObject([{ number: 2, profile: { misc: "short" } }, { number: 1 }]);
});

test("what was heard and learned is there after a restart", async () => {
  const first = await openSchool([{ text: '{"who": "Ada"}' }]);
  await converse(first, "one", "two", "three");
  await first.learner.close(1_000);
  await first.journal.close();
  const second = await openSchool([{ text: '{"style": "short"}' }], { dir: first.folder });
  expect(await second.book.text()).toEqual({ ok: true, value: '{\n  "who": "Ada"\n}' });
  said.set(second.journal, 3);
  await converse(second, "four");
  expect(JSON.stringify(second.prompts[0]?.messages)).toMatch(/three.*four/);
  expect(await versionsOf(second)).toMatchObject([{ number: 2, messages: 4 }, { number: 1 }]);
});

test("deleting takes the journal off the disk, also while a lesson is under way, and counting begins anew", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const slow: ScriptedReply = async function* () {
    asked.resolve();
    const text = await answer.promise;
    yield { kind: "block", block: 0, content: { kind: "text", text } };
  };
  const school = await openSchool([{ text: '{"who": "Ada"}' }, slow, { text: '{"misc": "new"}' }]);
  await converse(school, "one", "two", "three");
  await say(school.journal, school.learner, "four");
  const lesson = school.learner.turnDone("scripted/one");
  await asked.promise;
  expect(await school.book.remove()).toEqual({ ok: true, value: 1 });
  expect(await readdir(school.folder)).not.toContainEqual(expect.stringContaining(PROFILE_JOURNAL));
  answer.resolve('{"who": "Eve"}');
  await lesson;
  await converse(school, "five");
  expect(school.lines).toEqual([expect.stringContaining("deleted while it was learned")]);
  expect(await school.book.text()).toEqual({ ok: true, value: "" });
  await converse(school, "six");
  expect(JSON.stringify(school.prompts[2]?.messages)).not.toMatch(/one|four|Ada/);
  expect(await versionsOf(school)).toMatchObject([{ number: 1, profile: { misc: "new" }, messages: 2 }]);
  expect(await school.book.remove()).toEqual({ ok: true, value: 1 });
  expect(await school.book.remove()).toEqual({ ok: true, value: 0 });
});

test("what was learned of messages before a deletion is dropped, however much was said since", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const slow: ScriptedReply = async function* () {
    asked.resolve();
    yield { kind: "block", block: 0, content: { kind: "text", text: await answer.promise } };
  };
  const school = await openSchool([slow]);
  await converse(school, "one");
  await say(school.journal, school.learner, "two");
  const lesson = school.learner.turnDone("scripted/one");
  await asked.promise;
  expect(await school.book.remove()).toEqual({ ok: true, value: 0 });
  for (const text of ["three", "four", "five"]) await say(school.journal, school.learner, text);
  answer.resolve('{"who": "Eve"}');
  await lesson;
  expect(school.lines).toEqual([expect.stringContaining("deleted while it was learned")]);
  expect(await school.book.text()).toEqual({ ok: true, value: "" });
});

test("a lesson that stalls holds up no other call, and an orderly end stops it in the end", {
  timeout: 30_000,
}, async () => {
  const asked = Promise.withResolvers<void>();
  const stalling: ScriptedReply = async function* (_prompt, signal) {
    asked.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { kind: "failed", failure: { code: "cancelled", message: "stopped" } };
  };
  const school = await openSchool([stalling]);
  await converse(school, "one");
  await say(school.journal, school.learner, "two");
  void school.learner.turnDone("scripted/one");
  await asked.promise;
  await say(school.journal, school.learner, "three");
  void school.learner.turnDone("scripted/one");
  expect(await school.book.text()).toEqual({ ok: true, value: "" });
  await school.learner.close(50);
  expect(school.lines).toEqual([expect.stringContaining("nothing was learned")]);
  await converse(school, "four");
  expect(school.prompts).toHaveLength(1);
});

test("a conversation that was deleted has nothing to teach", async () => {
  const school = await openSchool([]);
  await say(school.journal, school.learner, "one");
  await say(school.journal, school.learner, "two");
  await school.book.moment();
  await school.journal.remove("chat");
  await school.learner.turnDone("scripted/one");
  expect(school.prompts).toHaveLength(0);
  expect(await school.book.moment()).toMatchObject({ value: { heard: 2, learned: 2, waiting: [] } });
});
