import { fail, ok } from "../../core/domain/failure.ts";
import type { Recall } from "../../core/domain/memory.ts";
import type { Decisions, RecordDecision } from "./decisions.ts";
import type { HostMethods } from "./host-method.ts";

const DEFAULT_HITS = 5;
const MAX_HITS = 50;
const MAX_QUERY_CHARS = 4096;

/** Long-term memory, for whom "memory=read" was granted. */
export function recallMethod(recall: Recall, decisions: Decisions, record: RecordDecision): HostMethods<"recall"> {
  return {
    async recall({ query, limit }, signal) {
      if (query.length > MAX_QUERY_CHARS)
        return fail("invalid", `the query is longer than ${MAX_QUERY_CHARS} characters`);
      const allowed = await decisions.judge({ kind: "memory", access: "read" }, record);
      if (!allowed.ok) return allowed;
      const found = await recall(query, Math.min(limit === 0 ? DEFAULT_HITS : limit, MAX_HITS), signal);
      if (!found.ok) return found;
      return ok({ hits: found.value.map(({ text, path, id }) => ({ text, source: path === "" ? id : path })) });
    },
  };
}
