import { afterEach, expect, test } from "vitest";
import {
  cases,
  closeHouses,
  complaints,
  converse,
  endings,
  isEnd,
  listen,
  NOBODY,
  open,
  openHouse,
  say,
  tool,
} from "../../../tests/kit/session-house.ts";
import type { Event } from "../../domain/event.ts";
import { fail, ok } from "../../domain/failure.ts";
import type { Chunk, Prompt } from "../../domain/provider.ts";
import type { ToolFilter, ToolLikeness } from "../../domain/tool-filter.ts";

afterEach(closeHouses);

const TOOLS = ["near", "far", "away"].map((name) =>
  tool(name, async () => ({ status: "done", output: name }), { description: "does something of its own kind" }),
);
const RULES = { minSimilarity: 0, topK: 1, alwaysOn: [], minDescriptionWords: 3 };

/** What is near changes with the words: the tool whose index the words begin with. */
const likeness: ToolLikeness = async (words) => {
  const nearest = Number.parseInt(words, 10) || 0;
  return ok(new Map(TOOLS.map(({ name }, index) => [name, index === nearest ? 0.9 : 0.1])));
};
const filter = (more: Partial<ToolFilter> = {}): ToolFilter => ({ rules: RULES, likeness, ...more });
const shown = ({ tools }: Prompt) => tools.map(({ name }) => name);
const choices = (events: readonly Event[]) =>
  events.flatMap(({ body }) => (body.case === "toolsChosen" ? [body.value] : []));

test("only the nearest is shown in every call of a turn, and an event before the first says what was left out and why", async () => {
  const replies = [{ calls: [{ tool: "near" }] }, { text: "done" }];
  const house = await openHouse({ replies, tools: TOOLS, toolFilter: filter() });
  const events = await converse(house, await open(house));
  expect(house.prompts.map(shown)).toEqual([["near"], ["near"]]);
  expect(choices(events)).toMatchObject([
    {
      step: 1,
      leftOut: [
        { tool: "away", similarity: 0.1, because: "not among the 1 nearest" },
        { tool: "far", similarity: 0.1 },
      ],
      problem: "",
    },
  ]);
  expect(cases(events).indexOf("toolsChosen")).toBeLessThan(cases(events).indexOf("replyEnded"));
});

test("a tool that was called without having been shown runs as any, and stays until the turn ends", async () => {
  const replies = [{ calls: [{ tool: "far_alias" }] }, { text: "done" }, { text: "next" }];
  const house = await openHouse({ replies, tools: TOOLS, toolFilter: filter() });
  const id = await open(house);
  const events = await converse(house, id);
  expect(endings(events)).toMatchObject([{ output: "far" }]);
  expect(house.prompts.map(shown)).toEqual([["near"], ["near", "far"]]);
  const heard = listen(house, id, { ...NOBODY, after: events.at(-1)?.seq ?? 0 }, isEnd);
  await say(house, id, "2 something else");
  await heard;
  expect(shown(house.prompts[2] as Prompt)).toEqual(["away"]);
});

test("what is said in the middle may bring tools, and takes none away", async () => {
  const inside = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const [near, ...others] = TOOLS;
  const slow = tool(
    "near",
    async () => {
      inside.resolve();
      await told.promise;
      return { status: "done", output: "" };
    },
    { description: near?.description ?? "" },
  );
  const replies = [{ calls: [{ tool: "near" }] }, { text: "done" }];
  const house = await openHouse({ replies, tools: [slow, ...others], toolFilter: filter() });
  const id = await open(house);
  const heard = listen(house, id, NOBODY, isEnd);
  await say(house, id, "0 first");
  await inside.promise;
  await say(house, id, "2 and off with it");
  told.resolve();
  await heard;
  expect(house.prompts.map(shown)).toEqual([["near"], ["near", "away"]]);
});

test("without a vector of the words in time every tool is shown, and the event says why", async () => {
  const failing = filter({ likeness: async () => fail("unavailable", "the endpoint is down") });
  const house = await openHouse({ replies: [], tools: TOOLS, toolFilter: failing });
  const events = await converse(house, await open(house));
  expect(shown(house.prompts[0] as Prompt)).toHaveLength(3);
  expect(choices(events)).toMatchObject([{ leftOut: [], problem: "the endpoint is down" }]);
  const stalled = filter({ likeness: () => new Promise(() => {}) });
  const slow = await openHouse({ replies: [], tools: TOOLS, toolFilter: stalled });
  expect(choices(await converse(slow, await open(slow)))).toMatchObject([
    { problem: expect.stringContaining("500 ms") },
  ]);
  expect(shown(slow.prompts[0] as Prompt)).toHaveLength(3);
  const thrown = new Error("broken");
  const broken = filter({ likeness: () => Promise.reject(thrown) });
  const third = await openHouse({ replies: [], tools: TOOLS, toolFilter: broken });
  await converse(third, await open(third));
  expect(complaints.splice(0)).toEqual([thrown]);
  expect(shown(third.prompts[0] as Prompt)).toHaveLength(3);
});

test("a turn that is taken up again shows what it showed, whatever is near now", async () => {
  const started = Promise.withResolvers<void>();
  async function* stuck(_prompt: unknown, signal: AbortSignal): AsyncGenerator<Chunk> {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { kind: "failed", failure: { code: "cancelled", message: "stopped" } };
  }
  const before = await openHouse({ replies: [stuck], tools: TOOLS, toolFilter: filter() });
  const id = await open(before);
  await say(before, id, "1 words");
  await started.promise;
  await listen(before, id, NOBODY, (news) => news.kind === "event" && news.event.body.case === "toolsChosen");
  const other = filter({ likeness: async () => ok(new Map([["away", 1]])) });
  for (const toolFilter of [other, undefined]) {
    const options = { replies: [stuck], tools: TOOLS, dir: before.dir };
    const after = await openHouse({ ...options, ...(toolFilter === undefined ? {} : { toolFilter }) });
    await after.sessions.resumeOpenTurns();
    await expect.poll(() => after.prompts.map(shown)).toEqual([["far"]]);
  }
});

test("without a filter, and where it leaves nothing out, there is no event", async () => {
  for (const toolFilter of [undefined, filter({ rules: { ...RULES, topK: 0 } })]) {
    const house = await openHouse({ replies: [], tools: TOOLS, ...(toolFilter === undefined ? {} : { toolFilter }) });
    expect(choices(await converse(house, await open(house)))).toEqual([]);
    expect(shown(house.prompts[0] as Prompt)).toHaveLength(3);
  }
});
