import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DocumentSource } from "../domain/document-source.ts";
import { fail, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import type { SlashCommand } from "../domain/slash-command.ts";
import type { Tool } from "../domain/tool.ts";
import { type JsonlJournal, openJournal } from "../journal/jsonl-journal.ts";
import { type MemoryCopy, memoryCopy } from "../memory/sql/memory-copy.ts";
import { memoryCommands } from "../memory/tool/memory-commands.ts";
import { memoryTools } from "../memory/tool/memory-tools.ts";
import { pdfTool } from "../memory/tool/pdf-tool.ts";
import { openTextIndex } from "../memory/tool/text-index.ts";
import { keepTextsIndexed, textsSource } from "../memory/tool/texts-source.ts";
import { vectorIndexTools } from "../memory/tool/vector-index-tools.ts";
import { openVectorIndices } from "../memory/tool/vector-indices.ts";
import { vectorTextTools } from "../memory/tool/vector-text-tools.ts";
import { withRealPaths } from "../tools/real-paths.ts";
import type { Home } from "./home.ts";
import type { MemoryRoom } from "./memory-room.ts";
import { textEmbedder } from "./text-embedder.ts";
import { workspacePdfs } from "./workspace-pdf.ts";

/** What models and people may do with memory. */
export type MemoryToolRoom = {
  readonly tools: readonly Tool[];
  readonly commands: readonly SlashCommand[];
  /** The texts that tools keep, for memory's own search. */
  readonly source: DocumentSource;
  /** Of memory's store, for `claw sql`. */
  readonly copy: MemoryCopy;
  /** Of the indices of vectors; undefined when there was never one. */
  vectorJournal(): Promise<Result<Journal> | undefined>;
  close(): Promise<void>;
};

export type MemoryToolParts = {
  readonly room: MemoryRoom;
  readonly home: Home;
  /** Of the conversations; undefined when past ones are not to be found. */
  readonly journal: Journal | undefined;
  readonly protectedPaths: readonly string[];
  readonly now: () => number;
  /** Writes down a broken promise of our own code. */
  readonly complain: (cause: unknown) => void;
};

export function openMemoryToolRoom(parts: MemoryToolParts): MemoryToolRoom {
  const { home, journal, now } = parts;
  const { memory, pool, pdf, embedder } = parts.room;
  const closing = new AbortController();
  let vectors: Promise<Result<JsonlJournal>> | undefined;

  /** A folder of its own: they are large, and no conversations. */
  function openVectors(): Promise<Result<Journal>> {
    if (closing.signal.aborted) {
      return Promise.resolve(
        fail("unavailable", "the indices of vectors are closed", { hint: "start the daemon again" }),
      );
    }
    vectors ??= openJournal({ dir: home.vectors, now });
    return vectors;
  }

  const indices = openVectorIndices({
    journal: openVectors,
    nearest: (request, signal) => pool.run("nearest", request, "front", signal),
    now,
  });
  const texts = openTextIndex({
    indices,
    embedder: textEmbedder(embedder, pool),
    onAdded: keepTextsIndexed(memory, closing.signal, parts.complain),
  });
  const openPdf = workspacePdfs(pdf, withRealPaths(parts.protectedPaths));
  return {
    tools: [
      ...memoryTools({ memory, journal, now }),
      pdfTool(openPdf, texts),
      ...vectorIndexTools(indices),
      ...vectorTextTools(texts, openPdf, now),
    ],
    commands: memoryCommands(memory, now),
    source: textsSource(indices),
    copy: memoryCopy(memory.views, join(home.memory, "views")),
    vectorJournal: async () => (existsSync(home.vectors) ? openVectors() : undefined),
    async close() {
      closing.abort();
      const opened = await vectors;
      if (opened?.ok === true) await opened.value.close();
    },
  };
}
