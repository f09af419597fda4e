import type { CommandEntry } from "./command.ts";
import { CONVERSATION_COMMANDS } from "./command-table/conversation.ts";
import { DAEMON_COMMANDS } from "./command-table/daemon.ts";
import { HOOK_COMMANDS } from "./command-table/hooks.ts";
import { JOURNAL_COMMANDS } from "./command-table/journals.ts";
import { MCP_COMMANDS } from "./command-table/mcp.ts";
import { MEMORY_COMMANDS } from "./command-table/memory.ts";
import { PLUGIN_COMMANDS } from "./command-table/plugins.ts";
import { PROFILE_COMMANDS } from "./command-table/profile.ts";
import { SCRIPT_COMMANDS } from "./command-table/scripts.ts";
import { SESSION_COMMANDS } from "./command-table/sessions.ts";
import { NONE } from "./command-table/syntax.ts";

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  ...CONVERSATION_COMMANDS,
  ...DAEMON_COMMANDS,
  ...SESSION_COMMANDS,
  ...SCRIPT_COMMANDS,
  ...HOOK_COMMANDS,
  ...PLUGIN_COMMANDS,
  ...MCP_COMMANDS,
  ...MEMORY_COMMANDS,
  ...PROFILE_COMMANDS,
  ...JOURNAL_COMMANDS,
  {
    path: ["tour"],
    about: "a few seconds that show every part at work",
    positionals: NONE,
    flags: [],
    load: async () => (await import("./commands/tour.ts")).tour,
  },
];
