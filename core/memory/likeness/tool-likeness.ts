import { createHash } from "node:crypto";
import type { Embedder } from "../../domain/embedder.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import type { Tool } from "../../domain/tool.ts";
import type { ToolLikeness } from "../../domain/tool-filter.ts";
import { unlessAborted } from "../../domain/unless-aborted.ts";

/** Tools that one request embeds. */
const BATCH_TOOLS = 64;
/** How long an embedder may take for the tools; turns meanwhile go on with those that have a vector. Milliseconds. */
const EMBED_LIMIT_MS = 30_000;
/** Vectors that are kept: more than there are tools, so that those of a plugin that comes back are still there. */
const KEPT_LIMIT = 2_048;
/** Of a message of any length its beginning says what it is about. */
const WORDS_LIMIT_CHARS = 2_000;
const DESCRIPTION_LIMIT_CHARS = 2_000;

export type ToolLikenessParts = {
  /** The embedder of this moment. */
  readonly embedder: () => Promise<Result<Embedder>>;
  readonly complain: (cause: unknown) => void;
};

export type OpenToolLikeness = {
  readonly likeness: ToolLikeness;
  /** Stops what is being embedded. */
  close(): void;
};

/** Compares words with tools by vectors of the memory's embedder; a tool's is made once for each form of its definition. */
export function openToolLikeness({ embedder, complain }: ToolLikenessParts): OpenToolLikeness {
  const stop = new AbortController();
  /** By digest of the definition, in the order of their last use. */
  const vectors = new Map<string, Float32Array>();
  let madeBy = "";
  let embedding: Promise<void> | undefined;

  async function embedMissing(by: Embedder, tools: readonly Tool[]): Promise<void> {
    const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(EMBED_LIMIT_MS)]);
    for (let from = 0; from < tools.length && !limit.aborted; from += BATCH_TOOLS) {
      const batch = tools.slice(from, from + BATCH_TOOLS);
      const made = await by.embed(batch.map(toolText), "document", limit);
      // Without vectors the tools are shown, and the next turn tries again.
      if (!made.ok || madeBy !== by.id) return;
      for (const [index, tool] of batch.entries()) {
        const vector = made.value[index];
        if (vector !== undefined) vectors.set(digestOf(tool), vector);
      }
      for (const digest of vectors.keys()) {
        if (vectors.size <= KEPT_LIMIT) break;
        vectors.delete(digest);
      }
    }
  }

  /** Vectors of one embedder say nothing beside those of another. */
  function turnTo(by: Embedder): void {
    if (madeBy === by.id) return;
    madeBy = by.id;
    vectors.clear();
    embedding = undefined;
  }

  /** One request at a time: tools that come meanwhile wait for the next turn. */
  function embed(by: Embedder, tools: readonly Tool[]): Promise<void> {
    const missing = tools.filter((tool) => !vectors.has(digestOf(tool)));
    if (missing.length === 0) return Promise.resolve();
    if (embedding !== undefined) return embedding;
    const running: Promise<void> = embedMissing(by, missing)
      .catch(complain)
      .finally(() => {
        if (embedding === running) embedding = undefined;
      });
    embedding = running;
    return running;
  }

  const likeness: ToolLikeness = async (words, tools, signal) => {
    const chosen = await embedder();
    if (!chosen.ok) return chosen;
    const by = chosen.value;
    turnTo(by);
    const ready = unlessAborted(embed(by, tools), signal, () => {});
    const asked = await by.embed([words.slice(0, WORDS_LIMIT_CHARS)], "query", signal);
    if (!asked.ok) return asked;
    const [query] = asked.value;
    if (query === undefined) return fail("unavailable", `${by.id} gave no vector for the words`);
    await ready;
    if (madeBy !== by.id) return fail("unavailable", `${by.id} is not the embedder any more`);
    const near = new Map<string, number>();
    for (const tool of tools) {
      const digest = digestOf(tool);
      const vector = vectors.get(digest);
      if (vector === undefined || vector.length !== query.length) continue;
      vectors.delete(digest);
      vectors.set(digest, vector);
      near.set(tool.name, cosine(query, vector));
    }
    return ok(near);
  };

  return { likeness, close: () => stop.abort() };
}

function toolText({ name, description }: Tool): string {
  return `${name.replaceAll("_", " ")}: ${description.slice(0, DESCRIPTION_LIMIT_CHARS)}`;
}

function digestOf(tool: Tool): string {
  return createHash("sha256").update(toolText(tool)).digest("base64");
}

/** From -1 to 1; 0 where one of them has no direction. */
function cosine(one: Float32Array, two: Float32Array): number {
  let [dot, first, second] = [0, 0, 0];
  for (const [index, value] of one.entries()) {
    const other = two[index] ?? 0;
    dot += value * other;
    first += value * value;
    second += other * other;
  }
  return first === 0 || second === 0 ? 0 : dot / Math.sqrt(first * second);
}
