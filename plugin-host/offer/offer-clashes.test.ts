import { expect, test } from "vitest";
import { findClashes } from "./offer-clashes.ts";

const plugin = (name: string, commands: readonly string[], models: readonly string[] = []) => ({
  name,
  modelProviders: models.map((model) => ({ name: model, defaultModel: "x" })),
  embedders: [{ id: `${name}-3`, dimensions: 3 }],
  slashCommands: commands.map((command) => ({ name: command, description: "" })),
});

test("of two plugins with one command the first keeps it, and the others are told", () => {
  const clashes = findClashes([plugin("a", ["go"], ["m"]), plugin("b", ["go", "stop"]), plugin("c", ["go"], ["m"])]);
  expect([...clashes]).toEqual([
    ["b", ['its command "/go" is not used: plugin "a" has it, too']],
    [
      "c",
      [
        'its model provider "m" is not used: plugin "a" has it, too',
        'its command "/go" is not used: plugin "a" has it, too',
      ],
    ],
  ]);
});

test("a command and a model provider of one name do not clash", () => {
  expect(findClashes([plugin("a", ["x"]), plugin("b", [], ["x"])]).size).toBe(0);
});
