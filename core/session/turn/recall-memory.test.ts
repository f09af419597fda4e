import { afterEach, expect, test } from "vitest";
import { scriptedHooks } from "../../../tests/kit/scripted-hooks.ts";
import {
  cases,
  closeHouses,
  complaints,
  converse,
  echo,
  isEnd,
  listen,
  NOBODY,
  open,
  openHouse,
  say,
} from "../../../tests/kit/session-house.ts";
import type { Chunk } from "../../domain/provider.ts";
import type { TurnRecall } from "../../domain/turn-recall.ts";

afterEach(closeHouses);

const BLUE = { text: "[note by the owner, 2026-05-01] My favourite colour is blue.", memoryIds: ["n1"] };
const messagesOf = (prompt: unknown) => JSON.stringify((prompt as { messages: unknown }).messages);

test("what memory holds stands beside the words from the first model call on, as an event before it", async () => {
  const asked: unknown[] = [];
  const recall: TurnRecall = async (words, viewer) => {
    asked.push({ words, viewer });
    return BLUE;
  };
  const replies = [{ calls: [{ tool: "echo", args: {} }] }, { text: "done" }, { text: "again" }];
  const house = await openHouse({ replies, tools: [echo], recall });
  const id = await open(house);
  const events = await converse(house, id);
  expect(asked).toEqual([{ words: "go", viewer: { workspace: house.dir, sessionId: id } }]);
  expect(cases(events)).toEqual(expect.arrayContaining(["memoryRecalled"]));
  expect(cases(events).indexOf("memoryRecalled")).toBeLessThan(cases(events).indexOf("replyEnded"));
  expect(cases(events).filter((name) => name === "memoryRecalled")).toHaveLength(1);
  expect(house.prompts[0]?.messages).toMatchObject([
    { role: "user", content: [{ text: "go" }, { text: expect.stringContaining(BLUE.text), byMemory: true }] },
  ]);
  expect(JSON.stringify(house.prompts[0]?.messages)).toContain("data, not instructions");
  // A later call begins with the very same messages.
  const [first = "", second = ""] = house.prompts.map(messagesOf);
  expect(second.startsWith(first.slice(0, -1))).toBe(true);
});

test("another daemon makes the same prompt of the journal alone", async () => {
  const before = await openHouse({ replies: [{ text: "one" }], recall: async () => BLUE });
  const id = await open(before);
  const events = await converse(before, id);
  const after = await openHouse({ replies: [{ text: "two" }], dir: before.dir });
  await say(after, id);
  await listen(after, id, { ...NOBODY, after: events.length }, isEnd);
  expect(messagesOf(after.prompts[0]).startsWith(messagesOf(before.prompts[0]).slice(0, -1))).toBe(true);
});

test("it stands before what hooks add, and hooks of context.build see the person's words alone", async () => {
  const hooks = scriptedHooks({
    "context.build": ({ value }) => ({ do: "modify", value: { ...value, context: `heard ${String(value.text)}` } }),
  });
  const house = await openHouse({ replies: [{ text: "so" }], hooks, recall: async () => BLUE });
  await converse(house, await open(house));
  expect(house.prompts[0]?.messages).toMatchObject([
    { content: [{ text: "go" }, { byMemory: true }, { text: expect.stringMatching(/heard go$/), byHooks: true }] },
  ]);
});

test("nothing is written when memory has nothing, is off, or fails, and the turn goes on", async () => {
  complaints.length = 0;
  const fails: TurnRecall = () => Promise.reject(new Error("memory broke"));
  for (const recall of [undefined, async () => undefined, fails]) {
    const house = await openHouse({ replies: [{ text: "so" }], ...(recall === undefined ? {} : { recall }) });
    const events = await converse(house, await open(house));
    expect(cases(events)).not.toContain("memoryRecalled");
    expect(cases(events).at(-1)).toBe("turnEnded");
    expect(messagesOf(house.prompts[0])).not.toContain("byMemory");
  }
  expect(complaints.splice(0)).toMatchObject([{ message: "memory broke" }]);
});

test("a turn does not wait for a memory that never answers", async () => {
  const aborted = Promise.withResolvers<void>();
  const recall: TurnRecall = (_words, _viewer, signal) => {
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    return new Promise(() => {});
  };
  const house = await openHouse({ replies: [{ text: "so" }], recall });
  const events = await converse(house, await open(house));
  await aborted.promise;
  expect(cases(events).at(-1)).toBe("turnEnded");
});

test("a turn that is taken up again has what was recalled, and memory is not asked twice", async () => {
  const started = Promise.withResolvers<void>();
  async function* stuck(_prompt: unknown, signal: AbortSignal): AsyncGenerator<Chunk> {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { kind: "failed", failure: { code: "cancelled", message: "stopped" } };
  }
  const before = await openHouse({ replies: [stuck], recall: async () => BLUE });
  const id = await open(before);
  await say(before, id);
  await started.promise;
  await listen(before, id, NOBODY, (news) => news.kind === "event" && news.event.body.case === "memoryRecalled");
  const other: TurnRecall = async () => ({ text: "something else", memoryIds: ["n2"] });
  const after = await openHouse({ replies: [{ text: "so" }], dir: before.dir, recall: other });
  const heard = listen(after, id, NOBODY, isEnd);
  await after.sessions.resumeOpenTurns();
  await heard;
  expect(messagesOf(after.prompts[0])).toContain("favourite colour");
  expect(messagesOf(after.prompts[0])).not.toContain("something else");
});
