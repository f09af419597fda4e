import { expect, test } from "vitest";
import { tool } from "../../tests/kit/session-house.ts";
import type { Tool } from "./tool.ts";
import { leaveOut, type ToolFilterRules } from "./tool-filter.ts";

const RULES: ToolFilterRules = { minSimilarity: 0, topK: 1, alwaysOn: [], minDescriptionWords: 3 };
const LONG = "does something of its very own kind";

function made(name: string, more: Partial<Tool> = {}): Tool {
  return tool(name, async () => ({ status: "done", output: "" }), { description: LONG, aliases: [], ...more });
}

const near = (similarities: Readonly<Record<string, number>>) => new Map(Object.entries(similarities));
const names = (left: ReturnType<typeof leaveOut>) => left.map(({ tool: name }) => name);

test("the nearest tools stay, and each that goes is named with its cosine and the rule", () => {
  const tools = ["a", "b", "c"].map((name) => made(name));
  const left = leaveOut(tools, "words", near({ a: 0.1, b: 0.9, c: 0.4 }), RULES);
  expect(left).toEqual([
    { tool: "c", similarity: 0.4, because: "not among the 1 nearest" },
    { tool: "a", similarity: 0.1, because: "not among the 1 nearest" },
  ]);
});

test("a least similarity holds beside the number, and 0 of either means any", () => {
  const tools = ["a", "b", "c"].map((name) => made(name));
  const likeness = near({ a: 0.1, b: 0.9, c: 0.4 });
  const least = leaveOut(tools, "words", likeness, { ...RULES, topK: 0, minSimilarity: 0.5 });
  expect(least.map(({ tool: name, because }) => [name, because])).toEqual([
    ["c", "less near than 0.5"],
    ["a", "less near than 0.5"],
  ]);
  expect(leaveOut(tools, "words", likeness, { ...RULES, topK: 0 })).toEqual([]);
});

test("a tool that is named stays, as a word of its own and in any case", () => {
  const tools = [made("web_scrape"), made("read"), made("near"), made("grep", { aliases: ["search_files"] })];
  const likeness = near({ web_scrape: 0, read: 0, near: 1, grep: 0 });
  const left = (words: string) => names(leaveOut(tools, words, likeness, RULES));
  expect(left("use web_scrape, please")).toEqual(["grep", "read"]);
  expect(left("pull the thread, already spread")).toEqual(["grep", "read", "web_scrape"]);
  expect(left("Read it and then (search_files).")).toEqual(["web_scrape"]);
  expect(left("préread überread read_it")).toEqual(["grep", "read", "web_scrape"]);
  expect(left("pull the thread, then read")).toEqual(["grep", "web_scrape"]);
});

test("always on, by alias too, a short description and no vector yet are shown, and take no place of the nearest", () => {
  const tools = [
    made("near"),
    made("far"),
    made("shell", { aliases: ["bash"] }),
    made("short", { description: "two words" }),
    made("fresh"),
  ];
  const likeness = near({ near: 0.5, far: 0.4, shell: 0.9, short: 0.9 });
  expect(names(leaveOut(tools, "words", likeness, { ...RULES, alwaysOn: ["bash"] }))).toEqual(["far"]);
});

test("tools that are equally near go by name, whatever their order was", () => {
  const tools = ["c", "a", "b"].map((name) => made(name));
  expect(names(leaveOut(tools, "words", near({ a: 0.5, b: 0.5, c: 0.5 }), RULES))).toEqual(["b", "c"]);
});
