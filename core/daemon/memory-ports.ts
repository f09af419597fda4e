import { ok, type Result } from "../domain/failure.ts";
import type { Memory, Recall, Viewer } from "../domain/memory.ts";

/** Hooks and plugins look from no folder and no conversation: what is of one project or one session is not for them. */
const OUTSIDE: Viewer = { workspace: "", sessionId: "" };

/** Memory as strangers may search it. */
export function strangersRecall(memory: Memory): Recall {
  return async (text, limit, signal) => {
    const found = await memory.search({ text, limit, viewer: OUTSIDE }, signal);
    return found.ok ? ok(found.value.hits) : found;
  };
}

/** Memory as strangers may add to it; whose words these are stays with them. */
export function strangersRemember(memory: Memory): (text: string) => Promise<Result<string>> {
  return async (text) => {
    const kept = await memory.remember({ text, author: "stranger", viewer: OUTSIDE, scope: "person" });
    return kept.ok ? ok(kept.value.id) : kept;
  };
}
