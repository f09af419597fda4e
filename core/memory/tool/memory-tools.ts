import type { Journal } from "../../domain/journal.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Tool } from "../../domain/tool.ts";
import { forgetTool, rememberTool } from "./note-tools.ts";
import { pastMessages } from "./past-messages.ts";
import { recallTool } from "./recall-tool.ts";
import { searchTool } from "./search-tool.ts";

export type MemoryToolParts = {
  readonly memory: Memory;
  /** Of the conversations; undefined when past ones are not to be found. */
  readonly journal: Journal | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** What a model may do with long-term memory. */
export function memoryTools({ memory, journal, now }: MemoryToolParts): readonly Tool[] {
  return [
    searchTool(memory, now),
    recallTool(memory, journal && pastMessages(journal), now),
    rememberTool(memory, now),
    forgetTool(memory),
  ];
}
