import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DocumentSource, SourceDocument } from "../../domain/document-source.ts";
import type { EventBody } from "../../domain/event.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { type JsonlJournal, openJournal } from "../../journal/jsonl-journal.ts";
import { conversationFeed } from "./conversations.ts";
import type { DocumentFeed, FeedBatch, FeedContext } from "./document-feed.ts";
import { pluginFeed } from "./plugin-sources.ts";
import { type CutTexts, cutTexts } from "./text-cutting.ts";

const never = new AbortController().signal;
const cut: CutTexts = (texts) => Promise.resolve(ok(cutTexts(texts)));
const AT_MS = Date.UTC(2026, 4, 7, 12);

let dir: string;
let journal: JsonlJournal;

async function open(): Promise<void> {
  const opened = await openJournal({ dir, now: () => AT_MS });
  if (!opened.ok) throw new Error(opened.failure.message);
  journal = opened.value;
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "clawd-feeds-"));
  await open();
});
afterEach(async () => {
  await journal.close();
  rmSync(dir, { recursive: true, force: true });
});

const opened = (sessionId: string, title = ""): EventBody => ({
  case: "sessionOpened",
  value: { sessionId, workspace: "/w", title, model: "" },
});
const spoke = (text: string): EventBody => ({ case: "userSpoke", value: { messageId: "m", text } });
const block = (kind: "text" | "thinking", text: string): EventBody => ({
  case: "blockEnded",
  value: { turnId: "t", step: 1, block: 0, content: { kind: { case: kind, value: { text } } } },
});
const call: EventBody = {
  case: "blockEnded",
  value: {
    turnId: "t",
    step: 1,
    block: 1,
    content: { kind: { case: "toolCall", value: { callId: "c", tool: "shell", args: { command: "secret payload" } } } },
  },
};
const context: EventBody = { case: "contextBuilt", value: { turnId: "t", step: 1, context: "words of a hook" } };

async function write(sessionId: string, after: number, ...bodies: readonly EventBody[]): Promise<void> {
  if (after === 0) await journal.create(sessionId);
  const appended = await journal.append(sessionId, after, bodies);
  if (!appended.ok) throw new Error(appended.failure.message);
}

type Ran = { readonly batches: FeedBatch[]; readonly failure: string };

async function run(feed: DocumentFeed, context: Partial<FeedContext> = {}, signal = never): Promise<Ran> {
  const batches: FeedBatch[] = [];
  let failure = "";
  for await (const batch of feed.batches({ hashesOf: () => [], watermarks: new Map(), ...context }, signal)) {
    if (batch.ok) batches.push(batch.value);
    else failure = batch.failure.message;
  }
  return { batches, failure };
}

const documentsOf = ({ batches }: Ran) => batches.flatMap(({ documents }) => documents);
const marksOf = ({ batches }: Ran) => new Map(batches.flatMap(({ watermarks }) => [...watermarks]));
const conversations = () => conversationFeed(journal, cut);

test("what people and the model said is there, and nothing of tools, thoughts and hooks", async () => {
  await write("s1", 0, opened("s1", "Travel"), spoke("my dog is called Rex"), context, block("thinking", "hm"));
  await write("s1", 4, block("text", "Nice name.\n\n# Dogs\n\nThey bark."), call);
  await write("memory", 0, spoke("a note of another kind"));
  const ran = await run(conversations());
  expect(
    documentsOf(ran).map(({ key, kind, author, sessionId, atMs }) => [key, kind, author, sessionId, atMs]),
  ).toEqual([
    ["s1/2", "conversation", "owner", "s1", AT_MS],
    ["s1/5", "conversation", "agent", "s1", AT_MS],
  ]);
  expect(documentsOf(ran).flatMap(({ pieces }) => pieces.map(({ line, title, text }) => [line, title, text]))).toEqual([
    [0, "user, 7 May 2026, Travel", "my dog is called Rex"],
    [0, "assistant, 7 May 2026, Travel", "Nice name."],
    [0, "assistant, 7 May 2026, Travel › Dogs", "# Dogs\n\nThey bark."],
  ]);
  expect(marksOf(ran)).toEqual(new Map([["s1", 6]]));
});

test("a feed reads on from where it was, and a conversation that is gone is told", async () => {
  await write("s1", 0, opened("s1"), spoke("one"));
  await write("s2", 0, opened("s2"), spoke("two"));
  const first = await run(conversations());
  expect(documentsOf(first)).toHaveLength(2);
  await write("s1", 2, spoke("three"));
  await journal.remove("s2");
  const second = await run(conversations(), { watermarks: marksOf(first) });
  expect(documentsOf(second).map(({ key }) => key)).toEqual(["s1/3"]);
  expect(second.batches.flatMap(({ goneSessionIds }) => goneSessionIds)).toEqual(["s2"]);
  const marks = new Map([...marksOf(first), ...marksOf(second), ["s2", -1] as const]);
  expect((await run(conversations(), { watermarks: marks })).batches).toEqual([]);
});

test("a long conversation comes in batches that say how far they came", async () => {
  await write("s1", 0, opened("s1"), ...Array.from({ length: 200 }, (_, index) => spoke(`message ${index}`)));
  const { batches } = await run(conversations());
  expect(batches.map(({ documents }) => documents.length)).toEqual([64, 64, 64, 8]);
  expect(batches.map(({ watermarks }) => watermarks.get("s1"))).toEqual([65, 129, 193, 201]);
});

test("a damaged journal counts as an error, and the others are read", async () => {
  await write("s1", 0, opened("s1"), spoke("one"), spoke("two"), spoke("three"));
  await write("s2", 0, opened("s2"), spoke("other"));
  await journal.close();
  const file = join(dir, "s1.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace('"text":"two"', '"text":"tow"'));
  await open();
  const ran = await run(conversations());
  expect(ran.batches.reduce((sum, { errors }) => sum + errors, 0)).toBe(1);
  expect(ran.failure).toBe("");
  expect(documentsOf(ran).map(({ key }) => key)).toContain("s2/2");
});

test("a stopped feed takes nothing away, and one that cannot be cut fails", async () => {
  await write("s1", 0, opened("s1"), spoke("one"));
  expect(await run(conversations(), { watermarks: new Map([["gone", 3]]) }, AbortSignal.abort())).toEqual({
    batches: [],
    failure: "",
  });
  const failing = conversationFeed(journal, () => Promise.resolve(fail("unavailable", "no workers")));
  expect(await run(failing)).toEqual({ batches: [], failure: "no workers" });
});

function sourceOf(...items: readonly (SourceDocument | string)[]): DocumentSource {
  return {
    name: "plugin:notes/inbox",
    description: "",
    async *documents(): AsyncGenerator<Result<SourceDocument>> {
      for (const item of items) yield typeof item === "string" ? fail("unavailable", item) : ok(item);
    },
  };
}

test("documents of a plugin are a stranger's words, and those that did not change are only named", async () => {
  const source = sourceOf({ id: "1", title: "Mail", text: "hello" }, { id: "2", title: "", text: "# Head\n\nwords" });
  const documents = documentsOf(await run(pluginFeed(source, cut)));
  expect(documents.map(({ key, kind, author, source: name }) => [key, kind, author, name])).toEqual([
    ["plugin:notes/inbox/1", "document", "stranger", "plugin:notes/inbox"],
    ["plugin:notes/inbox/2", "document", "stranger", "plugin:notes/inbox"],
  ]);
  expect(documents.map(({ pieces }) => pieces.map(({ title }) => title))).toEqual([["Mail"], ["Head"]]);
  const hashes = new Map(documents.map(({ key, hash }) => [key, [hash]]));
  const again = await run(pluginFeed(source, cut), { hashesOf: (key) => hashes.get(key) ?? [] });
  expect(again.batches.map(({ documents: news, same }) => [news, same])).toEqual([
    [[], documents.map(({ key, hash }) => ({ key, hash }))],
  ]);
});

test("a source that fails gives what came before, and its failure last", async () => {
  const ran = await run(pluginFeed(sourceOf({ id: "1", title: "", text: "hello" }, "it died"), cut));
  expect(documentsOf(ran).map(({ key }) => key)).toEqual(["plugin:notes/inbox/1"]);
  expect(ran.failure).toBe("it died");
});

test("a document that is too long is left out, and a source that never ends is ended", async () => {
  const long = { id: "long", title: "", text: "x".repeat(10_485_761) };
  const ran = await run(pluginFeed(sourceOf(long, { id: "2", title: "", text: "hello" }), cut));
  expect(ran.batches.map(({ skipped }) => skipped)).toEqual([1, 0].slice(0, ran.batches.length));
  expect(documentsOf(ran).map(({ key }) => key)).toEqual(["plugin:notes/inbox/2"]);
  const endless: DocumentSource = {
    ...sourceOf(),
    async *documents() {
      for (let id = 0; ; id += 1) yield ok({ id: String(id), title: "", text: "x" });
    },
  };
  const none: CutTexts = (texts) => Promise.resolve(ok(texts.map(() => [])));
  const ended = await run(pluginFeed(endless, none));
  expect(documentsOf(ended)).toHaveLength(100_000);
  expect(ended.failure).toContain("more than 100000 documents");
});
