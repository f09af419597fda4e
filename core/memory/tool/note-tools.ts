import type { JsonObject } from "@bufbuild/protobuf";
import { ok, type Result } from "../../domain/failure.ts";
import {
  IMPORTANCES,
  type Importance,
  type Memory,
  type MemoryScope,
  type Note,
  type NoteDraft,
  type Remembered,
} from "../../domain/memory.ts";
import { readMoment } from "../../domain/moment.ts";
import type { Tool, ToolContext } from "../../domain/tool.ts";
import { answer, failed, firstChars, missingField, textArg, textsArg } from "./tool-answer.ts";

const TIMEOUT_MS = 10_000;
const PREVIEW_LIMIT_CHARS = 50;
const ASKED_LIMIT_CHARS = 2_000;
/** The note itself is among them. */
const SIMILAR_CANDIDATES = 6;
const SIMILAR_LIMIT_NOTES = 3;
const SIMILAR_LIMIT_CHARS = 200;
/** Of the weight of the new note's words. */
const SIMILAR_LEAST_SHARE = 0.35;
const SIMILAR_HINT =
  "Both notes are kept. If a similar one no longer holds, take it out with forget; when the new one only says it again, forget the new one.";
const LABELS_LIMIT = 16;
const LABEL_LIMIT_CHARS = 64;
/** Where a note is from when nothing else is said. */
const DEFAULT_SOURCE = "conversation";
/** Another source is kept as a label. */
const SOURCE_LABEL = "source:";

const REMEMBER_INPUT: Tool["input"] = {
  type: "object",
  properties: {
    text: { type: "string", minLength: 1, description: "The note." },
    content: { type: "string", minLength: 1, description: "The same as text." },
    type: {
      type: "string",
      maxLength: LABEL_LIMIT_CHARS,
      description: "A word for it, e.g. preference; general by default.",
    },
    source: {
      type: "string",
      maxLength: LABEL_LIMIT_CHARS,
      description: `Where it is from; ${DEFAULT_SOURCE} by default.`,
    },
    importance: { type: "string", enum: [...IMPORTANCES], description: "normal by default." },
    scope: {
      type: "string",
      enum: ["person", "project", "session"],
      description: "Where it holds: everywhere (default), in this workspace, or in this conversation.",
    },
    labels: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: LABEL_LIMIT_CHARS },
      maxItems: LABELS_LIMIT,
      description: "Words to filter by.",
    },
    expires: { type: "string", description: "When it stops to hold: 2026-05-01, or 7d." },
    supersedes: {
      type: "string",
      description: "memory_id of the note that it takes the place of, because that no longer holds.",
    },
  },
  additionalProperties: false,
};

export function rememberTool(memory: Memory, now: () => number): Tool {
  return {
    name: "remember",
    description:
      "Keep a note in long-term memory, for later sessions too: one fact, clear without this conversation, with dates instead of words such as today. When it changes what an older note says, recall that note first and give its memory_id as supersedes: the old one is found no more. Nothing is ever replaced by itself; the answer names notes about the same matter as similar.",
    input: REMEMBER_INPUT,
    aliases: [
      ...["memory_remember", "remember_memory", "save_memory", "memory_save", "store_memory", "add_memory"],
      ...["memory_store", "memory_add"],
    ],
    category: "memory_write",
    rerun: "unsafe",
    timeoutMs: TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "write" }],
    async run(args, context) {
      const draft = readDraft(args, context, now());
      if (!draft.ok) return failed(draft.failure);
      const kept = await memory.remember(draft.value);
      if (!kept.ok) return failed(kept.failure);
      const similar = await findSimilar(memory, draft.value, kept.value, context.signal);
      const { type = "general", importance = "normal", scope } = draft.value;
      return answer({
        success: true,
        memory_id: kept.value.id,
        metadata: {
          timestamp: new Date(now()).toISOString(),
          type,
          importance,
          scope: scope.split(":")[0] ?? "",
          source: textArg(args, "source") || DEFAULT_SOURCE,
        },
        similar: similar.map(({ id, text }) => ({
          memory_id: id,
          content: firstChars(text, SIMILAR_LIMIT_CHARS, "…"),
        })),
        ...(similar.length === 0 ? {} : { hint: SIMILAR_HINT }),
      });
    },
  };
}

/** Notes with nearly the same words, then others about the same matter: one of them may not hold any more. */
async function findSimilar(
  memory: Memory,
  { text, viewer, supersedes }: NoteDraft,
  { id, similar }: Remembered,
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly text: string }[]> {
  const filter = { kinds: ["note"] as const };
  const asked = text.slice(0, ASKED_LIMIT_CHARS).toWellFormed();
  const query = { text: asked, literal: true, limit: SIMILAR_CANDIDATES, viewer, filter, shared: true };
  // The note is kept, whatever becomes of this.
  const found = await memory.search({ ...query, mode: "lexical" }, signal);
  const near = (found.ok ? found.value.hits : []).filter(
    ({ reason: { shared } }) => (shared?.telling ?? 0) > 0 && (shared?.share ?? 0) >= SIMILAR_LEAST_SHARE,
  );
  const told = new Map([...similar, ...near].map((note) => [note.id, note]));
  return [...told.values()].filter((note) => note.id !== id && note.id !== supersedes).slice(0, SIMILAR_LIMIT_NOTES);
}

function readDraft(args: JsonObject, { workspace, sessionId }: ToolContext, nowMs: number): Result<NoteDraft> {
  const text = textArg(args, "text", "content");
  if (text === "") return missingField("text");
  const expires = textArg(args, "expires");
  const expiresAtMs = expires === "" ? ok(0) : readMoment(expires, nowMs, "ahead");
  if (!expiresAtMs.ok) return expiresAtMs;
  const [type, supersedes, source] = [textArg(args, "type"), textArg(args, "supersedes"), textArg(args, "source")];
  const importance = textArg(args, "importance") as Importance | "";
  const labels = [
    ...textsArg(args, "labels"),
    ...(source === "" || source === DEFAULT_SOURCE ? [] : [`${SOURCE_LABEL}${source}`]),
  ];
  return ok({
    text,
    author: "agent",
    viewer: { workspace, sessionId },
    scope: scopeOf(textArg(args, "scope"), workspace, sessionId),
    ...(type === "" ? {} : { type }),
    ...(importance === "" ? {} : { importance }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(expiresAtMs.value === 0 ? {} : { expiresAtMs: expiresAtMs.value }),
    ...(supersedes === "" ? {} : { supersedes }),
  });
}

function scopeOf(word: string, workspace: string, sessionId: string): MemoryScope {
  if (word === "project") return `project:${workspace}`;
  return word === "session" ? `session:${sessionId}` : "person";
}

/** Where a note is from, and the labels that say something else. */
export function sourceOf({ labels }: Note): { readonly source: string; readonly labels: readonly string[] } {
  const source = labels.find((label) => label.startsWith(SOURCE_LABEL))?.slice(SOURCE_LABEL.length) ?? DEFAULT_SOURCE;
  return { source, labels: labels.filter((label) => !label.startsWith(SOURCE_LABEL)) };
}

export function forgetTool(memory: Memory): Tool {
  return {
    name: "forget",
    description: "Take a note out of long-term memory.",
    input: {
      type: "object",
      properties: {
        memory_id: { type: "string", minLength: 1, description: "The note's id, as recall shows it." },
        id: { type: "string", minLength: 1, description: "The same as memory_id." },
      },
      additionalProperties: false,
    },
    aliases: ["memory_forget", "forget_memory", "delete_memory", "memory_delete", "remove_memory"],
    category: "memory_write",
    rerun: "unsafe",
    timeoutMs: TIMEOUT_MS,
    needs: () => [{ kind: "memory", access: "write" }],
    async run(args, { workspace, sessionId }) {
      const id = textArg(args, "memory_id", "id");
      if (id === "") return failed(missingField("memory_id").failure);
      const gone = await memory.forget([id], { workspace, sessionId });
      if (!gone.ok) return failed(gone.failure);
      const preview = firstChars(gone.value[0]?.text ?? "", PREVIEW_LIMIT_CHARS);
      return answer({ success: true, memory_id: id, preview });
    },
  };
}
