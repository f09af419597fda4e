import { LANDLOCK_EXITS, landlockFile } from "../landlock/landlock-program.ts";
import { buildTable, OLDEST_ABI } from "../landlock/landlock-table.ts";
import type { Landlock } from "./launcher.ts";
import type { Architecture } from "./syscall-filter.ts";

/** Far above every ABI, and below the codes of a shell for what it could not start and for signals. */
const NEWEST_ABI = 99;
const INSIDE = "/dev/landlock";
/** The first line is its exit code and what it said, and the trial goes on whatever that is. */
const QUESTION = `said=$(${INSIDE} 2>&1); echo "$? $said"; exec "$@"`;

export const NO_ARCHITECTURE: Landlock = { missing: "it is not known how to ask on this processor" };

/** How a trial of bubblewrap asks for Landlock on its way, so that it takes no sandbox of its own. */
export type LandlockQuestion = {
  /** bwrap's options, after those for `/dev`. */
  readonly mounts: readonly string[];
  /** The standard input of bwrap. */
  readonly input: Buffer;
  wrap(command: readonly string[]): readonly string[];
};

/**
 * Asks the kernel for its Landlock as every launch does it: bubblewrap copies the program into a sandbox, and there it puts
 * up walls, of the oldest kind that we use, and says which ABI there is.
 */
export function askLandlock(architecture: Architecture): LandlockQuestion {
  const table = buildTable({ rules: [], isTcpShut: true, fileLimitBytes: undefined }, OLDEST_ABI);
  return {
    mounts: ["--perms", "0555", "--ro-bind-data", "0", INSIDE],
    input: landlockFile(architecture, table),
    wrap: (command) => ["/bin/sh", "-c", QUESTION, "sh", ...command],
  };
}

/** @param output of the trial: "7 " or "242 landlock: …", then what does not matter here */
export function readAnswer(output: string): Landlock {
  const [, digits, said = ""] = /^(\d+) (.*)/.exec(output) ?? [];
  const code = Number(digits);
  const line = said.trim();
  if (code === LANDLOCK_EXITS.noLandlock) return { missing: "this kernel has none, or has it switched off" };
  if (!(code <= NEWEST_ABI) || line !== "") {
    return { missing: `it does not work here (${line === "" ? `ended with ${digits ?? "nothing"}` : line})` };
  }
  if (code >= OLDEST_ABI) return { abi: code };
  return { missing: "that of this kernel lets no file be moved between folders; Linux 5.19 brought that" };
}
