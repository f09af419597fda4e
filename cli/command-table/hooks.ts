import type { CommandEntry } from "../command.ts";
import { exactly, JSON_FLAG, NONE } from "./syntax.ts";

export const HOOK_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["hook", "list"],
    about: "hooks in the order in which they run",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/hook.ts")).listHooks,
  },
  {
    path: ["hook", "add"],
    about: "check a script, a folder of them or a settings file with commands, and put it into the hooks folder",
    positionals: exactly("FILE"),
    examples: ["hook add guard.ts", "hook add ~/.claude/settings.json"],
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/hook.ts")).addHook,
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
    load: async () => (await import("../commands/hook.ts")).testHook,
  },
  {
    path: ["hook", "enable"],
    about: "turn a hook on again",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/hook.ts")).enableHook,
  },
  {
    path: ["hook", "disable"],
    about: "turn a hook off; it is not asked until it is turned on",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/hook.ts")).disableHook,
  },
  {
    path: ["hook", "remove"],
    about: "take a hook out of the hooks folder",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/hook.ts")).removeHook,
  },
];
