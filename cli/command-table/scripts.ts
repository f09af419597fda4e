import type { Flag } from "../args.ts";
import type { CommandEntry } from "../command.ts";
import { exactly, JSON_FLAG } from "./syntax.ts";

/** Deno's flags. */
const SCRIPT_PERMISSIONS = {
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
} as const;

const SCRIPT_FLAGS: readonly Flag[] = [
  { name: "no-prompt", kind: "switch", about: "refuse the rest; without it a person at a terminal is asked" },
  {
    name: "runtime",
    kind: "text",
    value: "NAME",
    about: "isolate, or deno: your own Deno, held to the same grant",
  },
  { name: "time-limit", kind: "text", value: "TIME", about: "end it after so long, e.g. 500ms, 5m (default 60s)" },
  { name: "memory-limit", kind: "text", value: "MIB", about: "end it when it needs more memory (default 128)" },
  {
    name: "import-map",
    kind: "text",
    value: "FILE",
    about: "what words in imports mean (default: deno.json beside it)",
  },
];

export const SCRIPT_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["run"],
    about: "run a TypeScript or JavaScript file in the sandbox, with Deno's permission flags",
    positionals: exactly("FILE"),
    ...SCRIPT_PERMISSIONS,
    examples: ["run --allow-read=./data --allow-env=LANG script.ts ARG", "run -RW=. --time-limit=5m build.ts"],
    tail: true,
    flags: SCRIPT_FLAGS,
    load: async () => (await import("../commands/run.ts")).run,
  },
  {
    path: ["test"],
    about: "run the tests that files declare with Deno.test, each file alone in the sandbox",
    positionals: { names: ["FILE"], min: 1, max: Number.POSITIVE_INFINITY },
    ...SCRIPT_PERMISSIONS,
    examples: ["test words.test.ts", "test --allow-read=./data --filter parse tests/*.test.ts"],
    flags: [
      {
        name: "filter",
        kind: "text",
        value: "TEXT",
        about: "only tests with this in their name, or that match /PATTERN/",
      },
      { name: "fail-fast", kind: "switch", about: "end with the first test that fails" },
      ...SCRIPT_FLAGS.filter(({ name }) => name !== "runtime"),
      JSON_FLAG,
    ],
    load: async () => (await import("../commands/test.ts")).test,
  },
];
