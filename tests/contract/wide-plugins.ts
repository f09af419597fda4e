import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundleFixture, type FolderFiles } from "../../plugin-host/fixtures/plugin-lab.ts";
import { buildGo, goMissing } from "../kit/go-build.ts";
import { findPythonHome, SDK_FOLDER } from "../kit/python-home.ts";
import { buildRust, rustMissing } from "../kit/rust-build.ts";

/**
 * The wide plugin, in each of our libraries: what they do beyond the contract that every plugin keeps. Its name is "wide", its
 * version 1.0.0. Its settings are `offers`, words to begin with, of which "refuse" is refused with "never that word", and
 * `restart`, with which new settings need a restart. At each start it offers the words that it was told last, or `offers`:
 * - a tool a word, `WORD {text}`, which gives "WORD: TEXT" and says of itself "Says WORD.", or "Says WORD loudly.";
 * - a command a word, "/WORD REST", which shows "WORD: REST", takes "rest" by name, too, and says the same as one message.
 * Its tools, with what each gives as JSON:
 * - `offer {words, loud}` keeps the words as the value "words" and offers them: `{names, problems}`.
 * - `secret {value}` keeps it, reads it, takes it out, reads again: `[it was the same, what was left or null]`.
 * - `generate {ask, most}`, told to "be short": `[text, stop, model, tokens, tokens left]`.
 * - `form` asks "who is it for?" for a name, perhaps an age, and a size, small or large: `[yes, answered, name, age, size]`.
 * - `finely` fails: exhausted, "too often", "wait a minute", too_eager, worth another try.
 * - `artifact` writes "abc", adds "def", gives three bytes from the second on, as text.
 * - `tell` logs "a small thing" for its author and "an odd thing" as a warning.
 * Its model "limits" says "at most N", or "no limit"; when it is told "busy" it fails in a way that is worth another try.
 */
export type WidePlugin = {
  readonly title: string;
  readonly command: readonly [string, ...string[]];
  readonly files: () => Promise<FolderFiles>;
  /** What it must see beside its folder, absolute. */
  readonly readable: readonly string[];
  /** Why it cannot run here. */
  readonly missing: string | undefined;
};

const FIXTURES = join(import.meta.dirname, "fixtures");
const home = findPythonHome(process.env);
const packages = [...(home.ready ? home.packages : []), SDK_FOLDER];

const python = (title: string, file: string): WidePlugin => ({
  title,
  command: [home.ready ? home.python : "python3", "main.py"],
  files: async () => ({
    "main.py": `import sys; sys.path[:0] = ${JSON.stringify(packages)}\n${readFileSync(join(FIXTURES, file), "utf8")}`,
  }),
  readable: packages,
  missing: home.ready ? undefined : home.missing,
});

export const WIDE_PLUGINS: readonly WidePlugin[] = [
  {
    title: "TypeScript",
    command: ["node", "main.mjs"],
    files: async () => ({ "main.mjs": await bundleFixture("../../tests/contract/fixtures/wide-plugin.ts") }),
    readable: [],
    missing: undefined,
  },
  python("Python", "python_wide_plugin.py"),
  python("Python, asyncio", "python_wide_async_plugin.py"),
  {
    title: "Go",
    command: ["./wide", "wide"],
    files: async () => ({ wide: await buildGo(join(FIXTURES, "go-sdk")) }),
    readable: [],
    missing: goMissing,
  },
  {
    title: "Rust",
    command: ["./wide"],
    files: async () => ({ wide: await buildRust(join(FIXTURES, "rust"), "contract-wide") }),
    readable: [],
    missing: rustMissing,
  },
];
