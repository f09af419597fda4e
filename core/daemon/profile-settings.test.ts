import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

function read(text: string) {
  const parsed = parseConfig(text, "config.toml");
  if (!parsed.ok) return parsed.failure.message;
  const { profile, toolFilter } = parsed.value.config;
  return { profile, toolFilter };
}

test("the profile and the tool filter are off unless they are turned on, with the documented defaults", () => {
  expect(read("")).toEqual({
    profile: { enabled: false, cadence: 5 },
    toolFilter: {
      enabled: false,
      minSimilarity: 0,
      topK: 6,
      alwaysOn: ["memory_search", "remember", "shell", "read", "edit"],
      minDescriptionWords: 5,
    },
  });
});

test("what is written holds", () => {
  const text = `[profile]
enabled = true
cadence = 2
[agent.tool_filter]
enabled = true
min_similarity = 0.25
top_k = 0
always_on = []
min_description_words = 0`;
  expect(read(text)).toEqual({
    profile: { enabled: true, cadence: 2 },
    toolFilter: { enabled: true, minSimilarity: 0.25, topK: 0, alwaysOn: [], minDescriptionWords: 0 },
  });
});

test.each([
  ["[profile]\ncadence = 0", "line 2: profile.cadence must be from 1 to 100, not 0"],
  ["[profile]\ncadence = 101", "not 101"],
  ['[profile]\nenabled = "yes"', "profile.enabled must be true or false"],
  ["[agent.tool_filter]\nmin_similarity = 1.5", "line 2: agent.tool_filter.min_similarity must be at most 1, not 1.5"],
  ["[agent.tool_filter]\ntop_k = -1", "agent.tool_filter.top_k must be a whole number"],
  ["[agent.tool_filter]\nalways_on = 3", "must be a list of strings"],
])("%j is refused, with its line", (text, message) => {
  expect(read(text)).toContain(message);
});
