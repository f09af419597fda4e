import { relative } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure } from "../../domain/failure.ts";
import type { Memory, MemoryHit } from "../../domain/memory.ts";
import type { JsonSchema, Tool, ToolOutcome } from "../../domain/tool.ts";

const SEARCH_TIMEOUT_MS = 60_000;
const CHANGE_TIMEOUT_MS = 10_000;
const DEFAULT_HITS = 8;
const HIT_LIMIT = 50;
const HIT_TEXT_LIMIT_CHARS = 1_500;

/** What a model may do with long-term memory. */
export function memoryTools(memory: Memory): readonly Tool[] {
  return [searchTool(memory), recallTool(memory), rememberTool(memory), forgetTool(memory)];
}

function searchTool(memory: Memory): Tool {
  return {
    name: "memory_search",
    description:
      "Search indexed files and notes by words, best match first. Use it to find where something is said or defined when you do not know the file. Each hit shows path:line and the text.",
    input: querySchema("Words to look for; a question or identifiers work too."),
    aliases: ["search_memory", "memory_query", "semantic_search", "vector_db_search", "vector_db_query"],
    category: "memory_read",
    rerun: "safe",
    timeoutMs: SEARCH_TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "read" }],
    async run(args, { signal, workspace }) {
      const found = await memory.search(textOf(args, "query"), limitOf(args), signal);
      return found.ok ? done(printHits(found.value, workspace, NOTHING_FOUND)) : failed(found.failure);
    },
  };
}

function recallTool(memory: Memory): Tool {
  return {
    name: "recall",
    description: "Search only the notes that were remembered, best match first. Each shows its id, which forget takes.",
    input: querySchema("Words to look for."),
    aliases: ["memory_recall", "recall_memory", "get_memory", "retrieve_memory"],
    category: "memory_read",
    rerun: "safe",
    timeoutMs: SEARCH_TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "read" }],
    async run(args, { signal, workspace }) {
      const found = await memory.search(textOf(args, "query"), limitOf(args), signal, "notes");
      return found.ok ? done(printHits(found.value, workspace, NO_NOTES)) : failed(found.failure);
    },
  };
}

function rememberTool(memory: Memory): Tool {
  return {
    name: "remember",
    description:
      "Keep a note in long-term memory, for later sessions too. Write it so that it is clear without this conversation.",
    input: {
      type: "object",
      properties: { text: { type: "string", minLength: 1, description: "The note." } },
      required: ["text"],
      additionalProperties: false,
    },
    aliases: ["memory_remember", "remember_memory", "save_memory", "memory_save", "store_memory", "add_memory"],
    category: "memory_write",
    rerun: "unsafe",
    timeoutMs: CHANGE_TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "write" }],
    async run(args, { sessionId }) {
      const kept = await memory.remember(textOf(args, "text"), "agent", sessionId);
      return kept.ok ? done(`Remembered as note ${kept.value}.`) : failed(kept.failure);
    },
  };
}

function forgetTool(memory: Memory): Tool {
  return {
    name: "forget",
    description: "Take a note out of long-term memory.",
    input: {
      type: "object",
      properties: { id: { type: "string", minLength: 1, description: "The note's id, as recall shows it." } },
      required: ["id"],
      additionalProperties: false,
    },
    aliases: ["memory_forget", "forget_memory", "delete_memory", "memory_delete"],
    category: "memory_write",
    rerun: "unsafe",
    timeoutMs: CHANGE_TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "write" }],
    async run(args) {
      const id = textOf(args, "id");
      const gone = await memory.forget(id);
      return gone.ok ? done(`Forgot note ${id}.`) : failed(gone.failure);
    },
  };
}

const NOTHING_FOUND =
  "Nothing found. Other words may help; only indexed folders and notes are searched (`claw memory index FOLDER`).";
const NO_NOTES = "No note matches.";

function querySchema(description: string): JsonSchema {
  return {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description },
      limit: { type: "integer", minimum: 1, maximum: HIT_LIMIT, description: `Most hits; ${DEFAULT_HITS} by default.` },
    },
    required: ["query"],
    additionalProperties: false,
  };
}

function textOf(args: JsonObject, key: string): string {
  const value = args[key];
  return typeof value === "string" ? value : "";
}

function limitOf(args: JsonObject): number {
  return typeof args.limit === "number" ? args.limit : DEFAULT_HITS;
}

function printHits(hits: readonly MemoryHit[], workspace: string, nothing: string): string {
  return hits.length === 0 ? nothing : hits.map((hit, index) => printHit(hit, index + 1, workspace)).join("\n\n");
}

function printHit(hit: MemoryHit, place: number, workspace: string): string {
  const source =
    hit.author === "file" ? `${shortPath(hit.path, workspace)}:${hit.line}` : `note ${hit.id} by ${hit.author}`;
  const left = hit.text.length - HIT_TEXT_LIMIT_CHARS;
  const text = left > 0 ? `${hit.text.slice(0, HIT_TEXT_LIMIT_CHARS)}… (${left} more characters)` : hit.text;
  return `${place}. ${source} (score ${hit.score.toFixed(2)})\n${text}`;
}

function shortPath(path: string, workspace: string): string {
  const inside = relative(workspace, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}

function done(output: string): ToolOutcome {
  return { status: "done", output };
}

function failed(failure: Failure): ToolOutcome {
  const output = failure.hint === undefined ? failure.message : `${failure.message}. ${failure.hint}`;
  return { status: "failed", output, failure };
}
