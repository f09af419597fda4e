import type { Result } from "./failure.ts";
import type { Tool } from "./tool.ts";

/** Which tools a model is shown for a person's words. */
export type ToolFilterRules = {
  /** Cosine from which on a tool is near enough; 0 for any. */
  readonly minSimilarity: number;
  /** How many of the nearest are shown beside those that always are; 0 for all. */
  readonly topK: number;
  /** Names or aliases of tools that are always shown. */
  readonly alwaysOn: readonly string[];
  /** Whoever says less of itself than so many words is shown: there is nothing to compare. */
  readonly minDescriptionWords: number;
};

/**
 * How near words are to what tools say of themselves: cosine by tool name. A tool without a vector yet is absent. Fails
 * when there is no vector of the words.
 */
export type ToolLikeness = (
  words: string,
  tools: readonly Tool[],
  signal: AbortSignal,
) => Promise<Result<ReadonlyMap<string, number>>>;

export type ToolFilter = { readonly rules: ToolFilterRules; readonly likeness: ToolLikeness };

/** A tool that the model is not shown, and why. */
export type LeftOutTool = { readonly tool: string; readonly similarity: number; readonly because: string };

/** The tools that are not shown for these words, nearest first. Everything else is. */
export function leaveOut(
  tools: readonly Tool[],
  words: string,
  likeness: ReadonlyMap<string, number>,
  rules: ToolFilterRules,
): readonly LeftOutTool[] {
  const judged: { readonly tool: string; readonly similarity: number }[] = [];
  for (const tool of tools) {
    const similarity = likeness.get(tool.name);
    if (similarity === undefined || isShownAnyway(tool, words, rules)) continue;
    judged.push({ tool: tool.name, similarity });
  }
  judged.sort((one, two) => two.similarity - one.similarity || (one.tool < two.tool ? -1 : 1));
  const { minSimilarity, topK } = rules;
  return judged.flatMap(({ tool, similarity }, rank) => {
    if (minSimilarity > 0 && similarity < minSimilarity) {
      return [{ tool, similarity, because: `less near than ${minSimilarity}` }];
    }
    return topK > 0 && rank >= topK ? [{ tool, similarity, because: `not among the ${topK} nearest` }] : [];
  });
}

function isShownAnyway(tool: Tool, words: string, { alwaysOn, minDescriptionWords }: ToolFilterRules): boolean {
  const names = [tool.name, ...tool.aliases];
  if (alwaysOn.some((name) => names.includes(name))) return true;
  if ((tool.description.match(/\S+/g) ?? []).length < minDescriptionWords) return true;
  const said = words.toLowerCase();
  return names.some((name) => isNamed(name.toLowerCase(), said));
}

const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

/** True when the name stands in the words as a word of its own: "read" is not in "thread". */
function isNamed(name: string, words: string): boolean {
  for (let at = words.indexOf(name); at >= 0 && name !== ""; at = words.indexOf(name, at + 1)) {
    const [before, after] = [words.charAt(at - 1), words.charAt(at + name.length)];
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return true;
  }
  return false;
}
