import type { CommandEntry } from "../command.ts";
import { JSON_FLAG, NONE } from "./syntax.ts";

export const PROFILE_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["profile", "show"],
    about: "what was learned of you, where [profile] in config.toml is on",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/profile.ts")).showProfile,
  },
  {
    path: ["profile", "history"],
    about: "every version of it, newest first",
    positionals: NONE,
    flags: [{ name: "limit", kind: "text", value: "N", about: "the most rows (default 100)" }, JSON_FLAG],
    load: async () => (await import("../commands/profile.ts")).listProfileVersions,
  },
  {
    path: ["profile", "delete"],
    about: "take it off the disk, all versions included",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/profile.ts")).deleteProfile,
  },
];
