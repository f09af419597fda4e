import type { MemoryHit } from "../../core/domain/memory.ts";

/** A hit as a search by words gives it, with what a test says of it. */
export function memoryHit(told: Partial<MemoryHit> & Pick<MemoryHit, "id" | "text">): MemoryHit {
  return {
    kind: "note",
    path: "",
    line: 0,
    page: 0,
    title: "",
    snippet: { text: told.text, marks: [] },
    score: 1,
    author: "owner",
    sessionId: "",
    atMs: 0,
    reason: {
      lexical: { rank: 1, score: 1 },
      recency: 1,
      importance: 1,
      folded: [],
      shared: { share: 1, words: 2, telling: 2 },
    },
    ...told,
  };
}
