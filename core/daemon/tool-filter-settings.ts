import type { ToolFilterRules } from "../domain/tool-filter.ts";

/** What [agent.tool_filter] of config.toml says, checked. Every key is described in docs/config.md. */
export type ToolFilterConfig = ToolFilterRules & { readonly enabled: boolean };

type Value = string | number | boolean | readonly string[];

/** Every key of [agent.tool_filter], with its kind. */
export const TOOL_FILTER_KEYS: Readonly<Record<string, "boolean" | "fraction" | "number" | "strings">> = {
  "agent.tool_filter.enabled": "boolean",
  "agent.tool_filter.min_similarity": "fraction",
  "agent.tool_filter.top_k": "number",
  "agent.tool_filter.always_on": "strings",
  "agent.tool_filter.min_description_words": "number",
};

const TOP_K = 6;
const ALWAYS_ON = ["memory_search", "remember", "shell", "read", "edit"];
const MIN_DESCRIPTION_WORDS = 5;

/** The first thing that is wrong with the values of [agent.tool_filter], in words that follow the key. */
export function checkToolFilterValues(values: ReadonlyMap<string, Value>): { key: string; what: string } | undefined {
  const key = "agent.tool_filter.min_similarity";
  const least = values.get(key);
  if (typeof least !== "number" || least <= 1) return undefined;
  return { key, what: `must be at most 1, not ${least}` };
}

/** [agent.tool_filter] from values that were checked. */
export function toolFilterConfigFrom(values: ReadonlyMap<string, Value>): ToolFilterConfig {
  const number = (key: string, otherwise: number) => Number(values.get(`agent.tool_filter.${key}`) ?? otherwise);
  const alwaysOn = values.get("agent.tool_filter.always_on");
  return {
    enabled: values.get("agent.tool_filter.enabled") === true,
    minSimilarity: number("min_similarity", 0),
    topK: number("top_k", TOP_K),
    alwaysOn: Array.isArray(alwaysOn) ? alwaysOn : ALWAYS_ON,
    minDescriptionWords: number("min_description_words", MIN_DESCRIPTION_WORDS),
  };
}
