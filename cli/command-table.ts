import type { Flag, Positionals } from "./args.ts";
import type { CommandEntry } from "./command.ts";

const JSON_FLAG: Flag = { name: "json", kind: "switch", about: "print JSON lines" };
const NONE: Positionals = { names: [], min: 0, max: 0 };

function exactly(...names: readonly string[]): Positionals {
  return { names, min: names.length, max: names.length };
}
function atMost(...names: readonly string[]): Positionals {
  return { names, min: 0, max: names.length };
}
/** Words that make one text, so that quotes may be left out. */
function words(name: string, min: number): Positionals {
  return { names: [name], min, max: Number.POSITIVE_INFINITY };
}

const SAY_FLAGS: readonly Flag[] = [
  { name: "session", kind: "text", value: "ID", about: 'go on with a session; "last" is the newest' },
  { name: "model", kind: "text", value: "PROVIDER/NAME", about: "who answers" },
  { name: "workspace", kind: "text", value: "DIR", about: "the folder a new session works in (default: this one)" },
  { name: "allow", kind: "list", value: "TOOL:PATTERN", about: "answer questions about such calls with yes" },
  { name: "yolo", kind: "switch", about: "answer every question with yes; a deny stays a deny" },
  JSON_FLAG,
];

const INSTALL_FLAGS: readonly Flag[] = [
  { name: "yes", kind: "switch", about: "grant what it asks for" },
  { name: "trust", kind: "switch", about: "let it run without a sandbox where the machine has none" },
  JSON_FLAG,
];

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

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    path: ["say"],
    about: "say something and watch the answer come",
    positionals: words("TEXT", 0),
    flags: SAY_FLAGS,
    examples: [
      'say "what is in README.md?"',
      'say --allow "shell:npm *" "run the tests and mend what fails"',
      'say --session last "go on"',
      "say < question.txt",
    ],
    load: async () => (await import("./commands/say.ts")).say,
  },
  {
    path: ["chat"],
    about: "talk; with piped input, one message without prompts",
    positionals: NONE,
    flags: SAY_FLAGS,
    load: async () => (await import("./commands/chat.ts")).chat,
  },
  {
    path: ["attach"],
    about: "pick a session up again and follow it",
    positionals: exactly("ID"),
    examples: ["attach last"],
    flags: [{ name: "after", kind: "text", value: "SEQ", about: "the last event that you have" }, JSON_FLAG],
    load: async () => (await import("./commands/attach.ts")).attach,
  },
  {
    path: ["up"],
    about: "start the daemon",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/daemon.ts")).up,
  },
  {
    path: ["down"],
    about: "end the daemon",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/daemon.ts")).down,
  },
  {
    path: ["status"],
    about: "what runs, and how well",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/daemon.ts")).status,
  },
  {
    path: ["doctor"],
    about: "what is missing or wrong, each with its mend",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    path: ["init"],
    about: "write a commented config.toml where none is",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/init.ts")).init,
  },
  {
    path: ["sessions", "list"],
    about: "sessions, newest first",
    positionals: NONE,
    flags: [{ name: "limit", kind: "text", value: "N", about: "the most rows (default 100)" }, JSON_FLAG],
    load: async () => (await import("./commands/sessions.ts")).listSessions,
  },
  {
    path: ["sessions", "show"],
    about: "what happened in a session",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/sessions.ts")).showSession,
  },
  {
    path: ["sessions", "fork"],
    about: "begin a session with the events of another",
    positionals: exactly("ID"),
    flags: [{ name: "at", kind: "text", value: "SEQ", about: "the last event to take (default: all)" }, JSON_FLAG],
    load: async () => (await import("./commands/sessions.ts")).forkSession,
  },
  {
    path: ["sessions", "delete"],
    about: "delete a session and its journal",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/sessions.ts")).deleteSession,
  },
  {
    path: ["sessions", "export"],
    about: "a session's events as JSON lines",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/sessions.ts")).exportSession,
  },
  {
    path: ["run"],
    about: "run a TypeScript or JavaScript file in the sandbox, with Deno's permission flags",
    positionals: exactly("FILE"),
    openFlags: [
      {
        prefix: "allow-",
        value: "KIND[=LIST]",
        about: "grant read, write, net, env, run or sys (-R -W -N -E -S for short)",
      },
      { prefix: "deny-", value: "KIND[=LIST]", about: "refuse it, whatever is granted" },
    ],
    openLetters: {
      R: "allow-read",
      W: "allow-write",
      N: "allow-net",
      E: "allow-env",
      S: "allow-sys",
      I: "allow-import",
      A: "allow-all",
    },
    examples: ["run --allow-read=./data --allow-env=LANG script.ts ARG", "run -RW=. --time-limit=5m build.ts"],
    tail: true,
    flags: [
      { name: "no-prompt", kind: "switch", about: "refuse the rest; without it a person at a terminal is asked" },
      { name: "time-limit", kind: "text", value: "TIME", about: "end it after so long, e.g. 500ms, 5m (default 60s)" },
      { name: "memory-limit", kind: "text", value: "MIB", about: "end it when it needs more memory (default 128)" },
    ],
    load: async () => (await import("./commands/run.ts")).run,
  },
  {
    path: ["hook", "list"],
    about: "hooks in the order in which they run",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/hook.ts")).listHooks,
  },
  {
    path: ["hook", "add"],
    about: "check a script, a folder of them or a settings file with commands, and put it into the hooks folder",
    positionals: exactly("FILE"),
    examples: ["hook add guard.ts", "hook add ~/.claude/settings.json"],
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/hook.ts")).addHook,
  },
  {
    path: ["hook", "test"],
    about: "run one hook on a made-up event",
    positionals: exactly("NAME"),
    flags: [
      { name: "point", kind: "text", value: "POINT", about: "the hook point (default: its first)" },
      { name: "value", kind: "text", value: "JSON", about: "the event's value, as the hook sees it; or @FILE" },
      JSON_FLAG,
    ],
    examples: [`hook test guard --value '{"tool":"shell","args":{"command":"ls"}}'`],
    load: async () => (await import("./commands/hook.ts")).testHook,
  },
  {
    path: ["hook", "enable"],
    about: "turn a hook on again",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/hook.ts")).enableHook,
  },
  {
    path: ["hook", "disable"],
    about: "turn a hook off; it is not asked until it is turned on",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/hook.ts")).disableHook,
  },
  {
    path: ["hook", "remove"],
    about: "take a hook out of the hooks folder",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/hook.ts")).removeHook,
  },
  {
    path: ["plugin", "list"],
    about: "installed plugins",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).listPlugins,
  },
  {
    path: ["plugin", "install"],
    about: "show what a folder, an archive or an executable asks for, and install it when you agree",
    positionals: exactly("PATH"),
    examples: ["plugin install plugins-examples/hello", "plugin install weather.tgz --yes"],
    flags: INSTALL_FLAGS,
    load: async () => (await import("./commands/plugin-install.ts")).installPlugin,
  },
  {
    path: ["plugin", "load"],
    about: "the same for a plugin that does not run yet",
    positionals: exactly("PATH"),
    flags: INSTALL_FLAGS,
    load: async () => (await import("./commands/plugin-install.ts")).loadPlugin,
  },
  {
    path: ["plugin", "unload"],
    about: "the same as disable",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).disablePlugin,
  },
  {
    path: ["plugin", "new"],
    about: "write a new plugin that runs, with a test",
    positionals: exactly("LANGUAGE", "NAME"),
    examples: ["plugin new typescript weather", "plugin new python weather --dir ~/plugins"],
    flags: [
      { name: "dir", kind: "text", value: "DIR", about: "the folder to write it into (default: this one)" },
      JSON_FLAG,
    ],
    load: async () => (await import("./commands/plugin-new.ts")).newPlugin,
  },
  {
    path: ["plugin", "remove"],
    about: "stop a plugin and delete it",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).removePlugin,
  },
  {
    path: ["plugin", "enable"],
    about: "turn a plugin on",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).enablePlugin,
  },
  {
    path: ["plugin", "disable"],
    about: "turn a plugin off",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).disablePlugin,
  },
  {
    path: ["plugin", "grant"],
    about: "take an upgrade that waits, or give back what was taken",
    positionals: { names: ["NAME", "PERMISSION"], min: 1, max: Number.POSITIVE_INFINITY },
    examples: ["plugin grant weather", "plugin grant weather net=api.example.com:443"],
    flags: [
      { name: "trust", kind: "switch", about: "let it run without a sandbox where the machine has none" },
      JSON_FLAG,
    ],
    load: async () => (await import("./commands/plugin.ts")).grantPlugin,
  },
  {
    path: ["plugin", "revoke"],
    about: "take permissions back, all when none is named; the plugin is stopped at once",
    positionals: { names: ["NAME", "PERMISSION"], min: 1, max: Number.POSITIVE_INFINITY },
    examples: ["plugin revoke weather net"],
    flags: [
      { name: "trust", kind: "switch", about: "take back the trust to run without a sandbox, and nothing else" },
      JSON_FLAG,
    ],
    load: async () => (await import("./commands/plugin.ts")).revokePlugin,
  },
  {
    path: ["plugin", "reload"],
    about: "read a plugin's files again and restart it",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).reloadPlugin,
  },
  {
    path: ["plugin", "logs"],
    about: "the last lines that a plugin wrote",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/plugin.ts")).showPluginLog,
  },
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
    load: async () => (await import("./commands/memory-index.ts")).indexMemory,
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
    load: async () => (await import("./commands/memory-search.ts")).searchMemory,
  },
  {
    path: ["memory", "recall"],
    about: "search what was remembered and what was said, without files",
    positionals: words("WORDS", 1),
    flags: SEARCH_FLAGS.filter(({ name }) => name !== "kind" && name !== "path"),
    examples: ["memory recall --after 30d what did we decide about the logo"],
    load: async () => (await import("./commands/memory-search.ts")).recallMemory,
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
    load: async () => (await import("./commands/memory-notes.ts")).rememberNote,
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
    load: async () => (await import("./commands/memory-notes.ts")).listNotes,
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
    load: async () => (await import("./commands/memory-forget.ts")).forgetNotes,
  },
  {
    path: ["memory", "stats"],
    about: "how much there is",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-store.ts")).showMemoryStats,
  },
  {
    path: ["memory", "status"],
    about: "the same as stats",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-store.ts")).showMemoryStats,
  },
  {
    path: ["memory", "verify"],
    about: "check store, index and vectors against each other and the journal",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-store.ts")).verifyMemory,
  },
  {
    path: ["memory", "rebuild"],
    about: "throw the store away and make it anew; notes lie in the journal and stay",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-index.ts")).rebuildMemory,
  },
  {
    path: ["memory", "export"],
    about: "write what is in memory as Parquet files into a folder",
    positionals: exactly("DIR"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-store.ts")).exportMemory,
  },
  {
    path: ["memory", "eval"],
    about: "measure searching by a folder's docs.jsonl, queries.jsonl and qrels.tsv",
    positionals: exactly("DIR"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/memory-store.ts")).evaluateMemory,
  },
  {
    path: ["audit", "verify"],
    about: "prove that no journal was changed",
    positionals: atMost("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("./commands/journal.ts")).verifyJournals,
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
    load: async () => (await import("./commands/journal.ts")).querySql,
  },
  {
    path: ["tour"],
    about: "a few seconds that show every part at work",
    positionals: NONE,
    flags: [],
    load: async () => (await import("./commands/tour.ts")).tour,
  },
];
