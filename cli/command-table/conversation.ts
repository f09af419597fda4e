import type { Flag } from "../args.ts";
import type { CommandEntry } from "../command.ts";
import { exactly, JSON_FLAG, NONE, words } from "./syntax.ts";

export const SAY_FLAGS: readonly Flag[] = [
  { name: "session", kind: "text", value: "ID", about: 'go on with a session; "last" is the newest' },
  { name: "model", kind: "text", value: "PROVIDER/NAME", about: "who answers" },
  { name: "workspace", kind: "text", value: "DIR", about: "the folder a new session works in (default: this one)" },
  { name: "allow", kind: "list", value: "TOOL:PATTERN", about: "answer questions about such calls with yes" },
  { name: "yolo", kind: "switch", about: "answer every question with yes; a deny stays a deny" },
  JSON_FLAG,
];

export const CONVERSATION_COMMANDS: readonly CommandEntry[] = [
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
    load: async () => (await import("../commands/say.ts")).say,
  },
  {
    path: ["chat"],
    about: "talk; with piped input, one message without prompts",
    positionals: NONE,
    flags: SAY_FLAGS,
    load: async () => (await import("../commands/chat.ts")).chat,
  },
  {
    path: ["attach"],
    about: "pick a session up again and follow it",
    positionals: exactly("ID"),
    examples: ["attach last"],
    flags: [{ name: "after", kind: "text", value: "SEQ", about: "the last event that you have" }, JSON_FLAG],
    load: async () => (await import("../commands/attach.ts")).attach,
  },
];
