import { expect, test } from "vitest";
import type { HookAnswer, HookPoint } from "../../core/domain/hook.ts";
import { mergeVerdicts } from "./hook-verdict.ts";

const VALUE = { text: "a" };

function merged(answers: readonly HookAnswer[], at: HookPoint = "tool.before"): HookAnswer {
  const merge = mergeVerdicts(at, VALUE);
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
  ["the first question is kept", [ask, { do: "ask", because: "other" }], ask],
])("%s", (_rule, answers, expected) => {
  expect(merged(answers)).toEqual(expected);
});

test("a question cannot carry a change, so together they block", () => {
  expect(merged([ask, modify])).toMatchObject({ do: "block", because: expect.stringContaining("unsure") });
});

test("at context.build nobody keeps the others from adding their part", () => {
  expect(merged([skip, block, modify, answer], "context.build")).toEqual(modify);
});
