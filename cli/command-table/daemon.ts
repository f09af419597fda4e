import type { CommandEntry } from "../command.ts";
import { JSON_FLAG, NONE } from "./syntax.ts";

export const DAEMON_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["up"],
    about: "start the daemon",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/daemon.ts")).up,
  },
  {
    path: ["down"],
    about: "end the daemon",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/daemon.ts")).down,
  },
  {
    path: ["status"],
    about: "what runs, and how well",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/daemon.ts")).status,
  },
  {
    path: ["doctor"],
    about: "what is missing or wrong, each with its mend",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/doctor.ts")).doctor,
  },
  {
    path: ["init"],
    about: "write a commented config.toml where none is",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/init.ts")).init,
  },
];
