import type { CommandEntry } from "../command.ts";
import { exactly, JSON_FLAG, NONE } from "./syntax.ts";

export const SESSION_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["sessions", "list"],
    about: "sessions, newest first",
    positionals: NONE,
    flags: [{ name: "limit", kind: "text", value: "N", about: "the most rows (default 100)" }, JSON_FLAG],
    load: async () => (await import("../commands/sessions.ts")).listSessions,
  },
  {
    path: ["sessions", "show"],
    about: "what happened in a session",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/sessions.ts")).showSession,
  },
  {
    path: ["sessions", "fork"],
    about: "begin a session with the events of another",
    positionals: exactly("ID"),
    flags: [{ name: "at", kind: "text", value: "SEQ", about: "the last event to take (default: all)" }, JSON_FLAG],
    load: async () => (await import("../commands/sessions.ts")).forkSession,
  },
  {
    path: ["sessions", "delete"],
    about: "delete a session and its journal",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/sessions.ts")).deleteSession,
  },
  {
    path: ["sessions", "export"],
    about: "a session's events as JSON lines",
    positionals: exactly("ID"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/sessions.ts")).exportSession,
  },
];
