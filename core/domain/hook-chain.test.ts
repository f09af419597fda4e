import { expect, test } from "vitest";
import { quietDesk } from "./desk.ts";
import { ok } from "./failure.ts";
import {
  type HookAnswer,
  type HookEvent,
  type HookListener,
  type HookPoint,
  type HookSource,
  NO_HOOKS,
} from "./hook.ts";
import { mergeHooks, mergeReplies } from "./hook-chain.ts";

const VALUE = { text: "a" };

function merged(answers: readonly HookAnswer[], at: HookPoint = "tool.before"): HookAnswer {
  const merge = mergeReplies(at, VALUE);
  for (const [index, answer] of answers.entries()) {
    if (!merge.decided) merge.add(`h${index}`, { answer, because: "", ms: 1 });
    else merge.pass(`h${index}`);
  }
  return merge.outcome().answer;
}

const pass: HookAnswer = { do: "pass" };
const skip: HookAnswer = { do: "skip" };
const modify: HookAnswer = { do: "modify", value: { text: "b" } };
const ask: HookAnswer = { do: "ask", because: "unsure" };
const block: HookAnswer = { do: "block", because: "no" };
const answer: HookAnswer = { do: "answer", result: 1 };

test.each<[string, HookAnswer[], HookAnswer]>([
  ["nobody says anything", [], pass],
  ["all pass", [pass, pass], pass],
  ["the first decision wins", [pass, answer, block], answer],
  ["a block beats a question and a change before it", [ask, modify, block], block],
  ["a change stays after a pass", [modify, pass], modify],
  ["a change before a skip stays", [modify, skip, block], modify],
  ["a skip passes over the rest", [skip, block], skip],
  ["a question stays after a pass and before a skip", [ask, pass, skip], ask],
  ["a change that is the last passes over the rest", [{ ...modify, last: true }, block], modify],
  ["the first question is kept", [ask, { do: "ask", because: "other" }], ask],
])("%s", (_rule, answers, expected) => {
  expect(merged(answers)).toEqual(expected);
});

test("a question cannot carry a change, so together they block", () => {
  expect(merged([ask, modify])).toMatchObject({ do: "block", because: expect.stringContaining("unsure") });
});

test("at context.build nobody keeps the others from adding their part", () => {
  const more: HookAnswer = { do: "modify", value: { text: "c" } };
  expect(merged([{ ...modify, last: true }, more], "context.build")).toEqual(more);
  expect(merged([skip, block, modify, answer], "context.build")).toEqual(modify);
});

const EVENT: HookEvent = { at: "tool.before", sessionId: "s", turnId: "t", callId: "c", workspace: "/", value: VALUE };
const CONTEXT = { signal: new AbortController().signal, ...quietDesk(async () => ok(undefined)) };

/** Listeners "NAME PRIORITY", each of which adds its name to the text. */
function sourceOf(names: readonly string[], forgotten: string[] = []): HookSource {
  const listeners = names.map((text): HookListener => {
    const [name = "", priority] = text.split(" ");
    return {
      name,
      priority: Number(priority),
      wants: ({ value }) => value.tool !== "other",
      ask: async ({ value }) => ({
        answer: { do: "modify", value: { ...value, text: `${value.text} ${name}` } },
        because: "",
        ms: 1,
      }),
    };
  });
  return {
    listeners: async (point) => (point === "custom.nobody" ? [] : listeners),
    forget: (sessionId) => void forgotten.push(sessionId),
  };
}

test("hooks of all sources are one chain: by priority, then by name", async () => {
  const hooks = mergeHooks([sourceOf(["a 1", "c 5", "d 5"]), sourceOf([]), sourceOf(["z 0", "b 5", "e 5", "a 9"])]);
  const { answer, receipts } = await hooks.run(EVENT, CONTEXT);
  expect(answer).toEqual({ do: "modify", value: { text: "a z a b c d e a" } });
  expect(receipts.map(({ hook }) => hook)).toEqual(["z", "a", "b", "c", "d", "e", "a"]);
});

test("among equals a source keeps its own order, whatever their names are", async () => {
  const hooks = mergeHooks([sourceOf(["m.2 5", "m.10 5"]), sourceOf(["k 5", "z 5"])]);
  const { receipts } = await hooks.run(EVENT, CONTEXT);
  expect(receipts.map(({ hook }) => hook)).toEqual(["k", "m.2", "m.10", "z"]);
});

test("a hook that leaves an event alone is only considered", async () => {
  const hooks = mergeHooks([sourceOf(["a 1"])]);
  const { answer, receipts } = await hooks.run({ ...EVENT, value: { tool: "other" } }, CONTEXT);
  expect(answer).toEqual(pass);
  expect(receipts).toEqual([{ hook: "a", verdict: "pass", because: "", ms: 0, ran: false }]);
});

test("a point is heard when any source listens there, and an unheard one costs nothing", async () => {
  const hooks = mergeHooks([sourceOf([]), sourceOf(["a 1"])]);
  expect(await hooks.hears("tool.before")).toBe(true);
  expect(await hooks.hears("custom.nobody")).toBe(false);
  expect(await hooks.run({ ...EVENT, at: "custom.nobody" }, CONTEXT)).toBe(NO_HOOKS);
});

test("every source forgets a session that is closed, also when nobody listens there", async () => {
  const forgotten: string[] = [];
  const hooks = mergeHooks([sourceOf(["a 1"], forgotten), sourceOf([], forgotten)]);
  await hooks.run({ ...EVENT, at: "session.closed", sessionId: "s1" }, CONTEXT);
  hooks.forget("s2");
  expect(forgotten).toEqual(["s1", "s1", "s2", "s2"]);
});
