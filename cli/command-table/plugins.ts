import type { Flag } from "../args.ts";
import type { CommandEntry } from "../command.ts";
import { exactly, JSON_FLAG, NONE } from "./syntax.ts";

const INSTALL_FLAGS: readonly Flag[] = [
  { name: "yes", kind: "switch", about: "grant what it asks for" },
  { name: "trust", kind: "switch", about: "let it run without a sandbox where the machine has none" },
  JSON_FLAG,
];

export const PLUGIN_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["plugin", "list"],
    about: "installed plugins",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).listPlugins,
  },
  {
    path: ["plugin", "install"],
    about: "show what a folder, an archive or an executable asks for, and install it when you agree",
    positionals: exactly("PATH"),
    examples: ["plugin install plugins-examples/hello", "plugin install weather.tgz --yes"],
    flags: INSTALL_FLAGS,
    load: async () => (await import("../commands/plugin-install.ts")).installPlugin,
  },
  {
    path: ["plugin", "load"],
    about: "the same for a plugin that does not run yet",
    positionals: exactly("PATH"),
    flags: INSTALL_FLAGS,
    load: async () => (await import("../commands/plugin-install.ts")).loadPlugin,
  },
  {
    path: ["plugin", "unload"],
    about: "the same as disable",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).disablePlugin,
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
    load: async () => (await import("../commands/plugin-new.ts")).newPlugin,
  },
  {
    path: ["plugin", "remove"],
    about: "stop a plugin and delete it",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).removePlugin,
  },
  {
    path: ["plugin", "enable"],
    about: "turn a plugin on",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).enablePlugin,
  },
  {
    path: ["plugin", "disable"],
    about: "turn a plugin off",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).disablePlugin,
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
    load: async () => (await import("../commands/plugin.ts")).grantPlugin,
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
    load: async () => (await import("../commands/plugin.ts")).revokePlugin,
  },
  {
    path: ["plugin", "enrol"],
    about: "make a one-time token by which a plugin of another machine is let in",
    positionals: exactly("NAME"),
    examples: ["plugin enrol weather", "plugin enrol weather --at 10.0.0.7:7444"],
    flags: [
      { name: "ttl", kind: "text", value: "TIME", about: "how long the token holds, e.g. 10m, 24h (default 10m)" },
      { name: "at", kind: "text", value: "HOST:PORT", about: "where its agent listens (default: the agent dials in)" },
      { name: "services", kind: "switch", about: "let it keep values and artifacts here, and ask you questions" },
      JSON_FLAG,
    ],
    load: async () => (await import("../commands/plugin-remote.ts")).enrolPlugin,
  },
  {
    path: ["plugin", "unenrol"],
    about: "cut a plugin of another machine off, at once",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin-remote.ts")).unenrolPlugin,
  },
  {
    path: ["plugin", "agent"],
    about: "run a plugin of this machine for a daemon on another one",
    positionals: exactly("FOLDER"),
    openFlags: [
      { prefix: "allow-", value: "KIND[=LIST]", about: "let it have read, write, net, env or run of this machine" },
      { prefix: "deny-", value: "KIND[=LIST]", about: "refuse it, whatever is granted" },
    ],
    examples: ["plugin agent ./weather --token clawd-enrol-… --allow-net=api.example.com:443"],
    flags: [
      { name: "token", kind: "text", value: "TOKEN", about: "enrol first, with what claw plugin enrol NAME printed" },
      { name: "listen", kind: "text", value: "HOST:PORT", about: "wait for the daemon (default: dial it)" },
      {
        name: "state",
        kind: "text",
        value: "DIR",
        about: "its key and its copy of the plugin (default: in $CLAWD_HOME/agents)",
      },
      { name: "trust", kind: "switch", about: "let it run without a sandbox where this machine has none" },
    ],
    load: async () => (await import("../commands/plugin-agent.ts")).runPluginAgent,
  },
  {
    path: ["plugin", "reload"],
    about: "read a plugin's files again and restart it",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).reloadPlugin,
  },
  {
    path: ["plugin", "logs"],
    about: "the last lines that a plugin wrote",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/plugin.ts")).showPluginLog,
  },
];
