import type { Flag } from "../args.ts";
import type { CommandEntry } from "../command.ts";
import { atMost, exactly, JSON_FLAG, NONE, words } from "./syntax.ts";

const SEARCH_FLAGS: readonly Flag[] = [
  { name: "mode", kind: "text", value: "MODE", about: "hybrid (the default), lexical or vector" },
  { name: "kind", kind: "list", value: "KIND", about: "only file, pdf, note, conversation or document" },
  { name: "after", kind: "text", value: "WHEN", about: "said or changed since a day, a time, or so long ago as 7d" },
  { name: "before", kind: "text", value: "WHEN", about: "said or changed before it" },
  { name: "path", kind: "text", value: "PATH", about: "only files below a folder, or with a glob in their path" },
  { name: "label", kind: "text", value: "WORD", about: "only notes with this label" },
  { name: "session", kind: "text", value: "ID", about: 'only what is of this session; "last" is the newest' },
  { name: "limit", kind: "text", value: "N", about: "the most hits (default 10)" },
  { name: "why", kind: "switch", about: "say of each hit why it stands where it does" },
  JSON_FLAG,
];

export const MEMORY_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["memory", "index"],
    about: "bring a folder's files into memory, or a plugin's source, or all conversations",
    positionals: atMost("DIR"),
    flags: [
      { name: "source", kind: "text", value: "NAME", about: "the documents of a plugin's source in place of a folder" },
      { name: "conversations", kind: "switch", about: "what was said in every session in place of a folder" },
      {
        name: "remove",
        kind: "switch",
        about: "take the folder or source out of memory; its files stay where they are",
      },
      JSON_FLAG,
    ],
    examples: ["memory index ~/notes", "memory index --source plugin:mail/inbox", "memory index --remove ~/notes"],
    load: async () => (await import("../commands/memory-index.ts")).indexMemory,
  },
  {
    path: ["memory", "search"],
    about: "search files, notes and conversations, best first",
    positionals: words("WORDS", 1),
    flags: SEARCH_FLAGS,
    examples: [
      "memory search where is the retry limit set",
      "memory search --kind file --path src --why '\"exact phrase\" auth* -test'",
    ],
    load: async () => (await import("../commands/memory-search.ts")).searchMemory,
  },
  {
    path: ["memory", "recall"],
    about: "search what was remembered and what was said, without files",
    positionals: words("WORDS", 1),
    flags: SEARCH_FLAGS.filter(({ name }) => name !== "kind" && name !== "path"),
    examples: ["memory recall --after 30d what did we decide about the logo"],
    load: async () => (await import("../commands/memory-search.ts")).recallMemory,
  },
  {
    path: ["memory", "remember"],
    about: "put a note into memory",
    positionals: words("TEXT", 1),
    flags: [
      {
        name: "scope",
        kind: "text",
        value: "SCOPE",
        about: "where it holds: person (everywhere, the default), project (this folder) or session (that of --session)",
      },
      {
        name: "session",
        kind: "text",
        value: "ID",
        about: 'the session that a session note is of; "last" is the newest',
      },
      { name: "type", kind: "text", value: "WORD", about: 'what it is, e.g. "preference"' },
      { name: "importance", kind: "text", value: "HOW", about: "low, normal, high or critical" },
      { name: "label", kind: "list", value: "WORD", about: "what it can be found by beside its words" },
      {
        name: "expires",
        kind: "text",
        value: "WHEN",
        about: "a day, a time or a length such as 30d: then it holds no more",
      },
      { name: "supersedes", kind: "text", value: "ID", about: "the note that it takes the place of" },
      JSON_FLAG,
    ],
    examples: [
      "memory remember I take my tea without sugar",
      'memory remember --scope project --label deploy --expires 30d "no deploys on Fridays"',
    ],
    load: async () => (await import("../commands/memory-notes.ts")).rememberNote,
  },
  {
    path: ["memory", "notes"],
    about: "the notes that are seen from this folder, newest first",
    positionals: NONE,
    flags: [
      { name: "all", kind: "switch", about: "those as well that were superseded or have expired" },
      { name: "limit", kind: "text", value: "N", about: "the most rows (default 100)" },
      { name: "session", kind: "text", value: "ID", about: "see the notes of this session, too" },
      JSON_FLAG,
    ],
    load: async () => (await import("../commands/memory-notes.ts")).listNotes,
  },
  {
    path: ["memory", "forget"],
    about: "take notes out of memory, all of those named or none",
    positionals: { names: ["ID"], min: 0, max: Number.POSITIVE_INFINITY },
    flags: [
      {
        name: "matching",
        kind: "text",
        value: "WORDS",
        about: "the notes with all of these words; shows them and asks first",
      },
      { name: "yes", kind: "switch", about: "do not ask" },
      { name: "session", kind: "text", value: "ID", about: "see the notes of this session, too" },
      JSON_FLAG,
    ],
    examples: ["memory forget 1m80hzgmcrgge33p", 'memory forget --matching "old address"'],
    load: async () => (await import("../commands/memory-forget.ts")).forgetNotes,
  },
  {
    path: ["memory", "stats"],
    about: "how much there is",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-store.ts")).showMemoryStats,
  },
  {
    path: ["memory", "status"],
    about: "the same as stats",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-store.ts")).showMemoryStats,
  },
  {
    path: ["memory", "verify"],
    about: "check store, index and vectors against each other and the journal",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-store.ts")).verifyMemory,
  },
  {
    path: ["memory", "rebuild"],
    about: "make the store anew; searches are answered from the old one meanwhile",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-index.ts")).rebuildMemory,
  },
  {
    path: ["memory", "export"],
    about: "write what is in memory as Parquet files into a folder",
    positionals: exactly("DIR"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-store.ts")).exportMemory,
  },
  {
    path: ["memory", "eval"],
    about: "measure searching by a folder's docs.jsonl, queries.jsonl and qrels.tsv",
    positionals: exactly("DIR"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/memory-store.ts")).evaluateMemory,
  },
];
