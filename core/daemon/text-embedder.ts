import type { Embedder } from "../domain/embedder.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { EmbedderChoice } from "../memory/embed/choose-embedder.ts";
import { HASH_DIMENSIONS, HASH_EMBEDDER_ID } from "../memory/vector/hash-embedder.ts";
import { createMockEmbedder } from "../memory/vector/mock-embedder.ts";
import type { MemoryPool } from "../memory/worker/memory-pool.ts";

/** The embedder in use, for whoever needs vectors of texts right now; the built-in one computes in the pool. */
export function textEmbedder(
  choose: () => EmbedderChoice,
  pool: Pick<MemoryPool, "run">,
): () => Promise<Result<Embedder>> {
  const builtin: Embedder = {
    id: HASH_EMBEDDER_ID,
    dimensions: HASH_DIMENSIONS,
    embed: (texts, _kind, signal) => pool.run<Float32Array[]>("embed", { texts }, "front", signal),
  };
  return async () => {
    const choice = choose();
    switch (choice.kind) {
      case "asked":
        return ok(choice.embedder);
      case "computed":
        return ok(choice.name === "builtin" ? builtin : createMockEmbedder());
      case "none":
        return missing(choice);
    }
  };
}

function missing({ why, problem }: Extract<EmbedderChoice, { kind: "none" }>): Result<never> {
  return fail("unavailable", `texts cannot be embedded: ${why}`, {
    hint: problem?.hint ?? 'name one as embedder under [memory] in config.toml; "builtin" needs no key',
  });
}
