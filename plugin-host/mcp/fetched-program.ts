import { fail, type Result } from "../../core/domain/failure.ts";
import type { PackageWords } from "./package-words.ts";

/** Programs of a package that a message names, and packages whose scripts did not run that a record names. */
export const MAX_NAMED = 16;
/** UTF-16 code units of such a name. */
export const NAME_LIMIT_CHARS = 214;

/** A program that a package brings. */
export type Program = {
  readonly bin: string;
  /** Its package. */
  readonly of: string;
  /** What it is, behind its name. */
  readonly target: string;
};

/** As npx and uvx do: the only one, also under several names, or the one that is called like its package. */
export function chooseProgram(wanted: PackageWords, programs: readonly Program[], nameOf: (of: string) => string) {
  const { program } = wanted;
  if (program !== undefined) return programs.find(({ bin }) => bin === program);
  if (new Set(programs.map(({ target }) => target)).size === 1) return programs[0];
  return programs.find(({ bin, of }) => bin === nameOf(of));
}

/** @param form how one is named */
export function noProgram(
  { packages, program }: PackageWords,
  programs: readonly Program[],
  form: string,
): Result<never> {
  const which = packages.join(", ");
  const named = programs.slice(0, MAX_NAMED).map(({ bin }) => bin.slice(0, NAME_LIMIT_CHARS));
  const bins = [...named, ...(programs.length > MAX_NAMED ? ["…"] : [])].join(", ");
  if (bins === "")
    return fail("not_found", `the package ${which} has no program to start`, {
      hint: "look at its page for how it is started",
    });
  const message =
    program === undefined
      ? `the package ${which} has several programs, none of its own name`
      : `the package ${which} has no program "${program}"`;
  return fail("not_found", message, { hint: `name one: ${form} PROGRAM; it has ${bins}` });
}
