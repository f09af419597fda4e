import type { CommandEntry } from "../command.ts";
import { atMost, JSON_FLAG, words } from "./syntax.ts";

export const JOURNAL_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["audit", "verify"],
    about: "prove that no journal was changed",
    positionals: atMost("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/journal.ts")).verifyJournals,
  },
  {
    path: ["sql"],
    about: "ask the journals and the memory; a query that is refused is told all views",
    positionals: words("SELECT", 1),
    flags: [JSON_FLAG],
    examples: [
      'sql "select tool, status, count(*), avg(ms) from calls group by all"',
      'sql "select * from turns order by started_at desc limit 5"',
    ],
    load: async () => (await import("../commands/journal.ts")).querySql,
  },
];
