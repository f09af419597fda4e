import { spawnSync } from "node:child_process";
import { CLAW } from "../kit/claw.ts";
import { run } from "./run.ts";

/** A title, a question to the terminal, a clipboard, a line that overwrites another, a bell, words that run backwards. */
export const TRICKS =
  "\u001b]0;owned\u0007\u001b[6n\u001b]52;c;b3duZWQ=\u0007\rgranted: nothing\u001b[2K\u009b31m\u202edetnarg";
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const TRICKED = /\u001b\]|\u001b\[6n|\u009b|\u0007|\u202e/;

export const terminalMissing =
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true
    ? ""
    : "there is no script(1) of util-linux to make a terminal with";

/** What a command prints to a terminal; clearing a line, in order to draw it anew, is its own. */
export async function onTerminal(env: NodeJS.ProcessEnv, cwd: string, ...args: readonly string[]): Promise<string> {
  const words = [process.execPath, CLAW, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const settings = { env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" }, cwd };
  return (await run("script", ["-qefc", `stty cols 200; ${words}`, "/dev/null"], settings)).stdout;
}

/** True when the text would do something to a terminal that its reader does not see. */
export function isTricked(text: string): boolean {
  return TRICKED.test(text);
}
