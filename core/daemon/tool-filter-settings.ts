import type { ToolFilterRules } from "../domain/tool-filter.ts";
import { numberOf, type Section } from "./section.ts";

/** What [agent.tool_filter] of config.toml says, checked. Every key is described in docs/config.md. */
export type ToolFilterConfig = ToolFilterRules & { readonly enabled: boolean };

const TOP_K = 6;
const ALWAYS_ON = ["memory_search", "remember", "shell", "read", "edit"];
const MIN_DESCRIPTION_WORDS = 5;

/** [agent.tool_filter]. */
export const TOOL_FILTER_SECTION: Section<ToolFilterConfig> = {
  keys: {
    "agent.tool_filter.enabled": "boolean",
    "agent.tool_filter.min_similarity": "fraction",
    "agent.tool_filter.top_k": "number",
    "agent.tool_filter.always_on": "strings",
    "agent.tool_filter.min_description_words": "number",
  },
  check(values) {
    const key = "agent.tool_filter.min_similarity";
    const least = values.get(key);
    return typeof least === "number" && least > 1 ? { key, what: `must be at most 1, not ${least}` } : undefined;
  },
  read(values) {
    const alwaysOn = values.get("agent.tool_filter.always_on");
    return {
      enabled: values.get("agent.tool_filter.enabled") === true,
      minSimilarity: numberOf(values, "agent.tool_filter.min_similarity", 0),
      topK: numberOf(values, "agent.tool_filter.top_k", TOP_K),
      alwaysOn: Array.isArray(alwaysOn) ? alwaysOn : ALWAYS_ON,
      minDescriptionWords: numberOf(values, "agent.tool_filter.min_description_words", MIN_DESCRIPTION_WORDS),
    };
  },
};
