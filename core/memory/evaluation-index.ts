import { ok, type Result } from "../domain/failure.ts";
import type { EvalIndex } from "./eval/evaluate.ts";
import { literalQuery } from "./lexical/query-text.ts";
import { COMPUTED_WEIGHT } from "./search-vectors.ts";
import type { AsideSegment } from "./worker/aside-task.ts";
import type { MemoryPool } from "./worker/memory-pool.ts";
import type { SearchedSegment } from "./worker/search-task.ts";

/** An index in memory that is searched as memory itself is, with the built-in embedder. Whoever drops it has its room back. */
export function evaluationIndex(
  pool: MemoryPool,
  numberOf: (buffer: SharedArrayBuffer) => number,
  signal: AbortSignal,
): EvalIndex {
  const segments: SearchedSegment[] = [];
  let documents = 0;
  return {
    async add(batch) {
      const request = {
        documents: batch.map(({ title, text, session }) => ({ title, text, session })),
        firstId: documents,
      };
      const built = await pool.run<AsideSegment>("buildAside", request, "back", signal);
      if (!built.ok) return built;
      const { buffer, block } = built.value;
      segments.push({
        key: numberOf(buffer),
        buffer,
        dead: undefined,
        vectors: { block, key: numberOf(block.memory.buffer) },
      });
      documents += batch.length;
      return ok(undefined);
    },
    async ask(mode, text, limit): Promise<Result<readonly number[]>> {
      const ranked = await pool.search({
        ...{ segments, query: literalQuery(text), mode, filter: {}, scopes: [] },
        queryVector: "builtin",
        rules: { lexicalWeight: 1, vectorWeight: COMPUTED_WEIGHT, halfLifeMs: 0, nowMs: 0, limit },
      });
      return ranked.ok ? ok(ranked.value.map(({ id }) => id)) : ranked;
    },
  };
}
