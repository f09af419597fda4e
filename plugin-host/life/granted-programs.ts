import { closeSync, constants, existsSync, openSync, readSync } from "node:fs";
import { lookUpProgram } from "../../sandbox/os/launch-check.ts";

/** What the kernel reads of a script's first line. */
const FIRST_LINE_BYTES = 256;
/** Without waiting, were it a pipe to which nobody writes. */
const FIRST_LINE_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
/** A script may be run by a script, which the kernel allows no more often either. */
const INTERPRETERS_LIMIT = 4;

/**
 * The files of programs, absolute, with what runs those of them that are scripts. A program that is not there is left out:
 * for whom it was granted it does not exist, like all others.
 * @param names names in the search path, or absolute paths
 */
export function programFiles(names: readonly string[], searchPath: string): readonly string[] {
  const files = new Set<string>();
  const add = (name: string, depth: number) => {
    const file = name.startsWith("/") ? lookUpProgram(name.slice(1), "/") : lookUpProgram(name, searchPath);
    if (file === undefined || files.has(file)) return;
    files.add(file);
    if (depth < INTERPRETERS_LIMIT) for (const next of interpretersOf(file)) add(next, depth + 1);
  };
  for (const name of names) add(name, 0);
  return [...files];
}

/** What runs a program of the plugin's own, when that is a script. `file` is absolute. */
export function interpreterFiles(file: string, searchPath: string): readonly string[] {
  return programFiles(interpretersOf(file), searchPath);
}

/** `#!/usr/bin/env python3` names two programs, `#!/bin/sh -e` one; nothing for what is no script or cannot be read. */
function interpretersOf(file: string): readonly string[] {
  const line = firstLine(file);
  if (line === undefined) return [];
  const [program, ...rest] = line.slice(2).trim().split(/\s+/);
  if (program === undefined || !program.startsWith("/")) return [];
  const named = program.endsWith("/env")
    ? rest.find((word) => !word.startsWith("-") && !word.includes("="))
    : undefined;
  return named === undefined ? [program] : [program, named];
}

function firstLine(file: string): string | undefined {
  const start = Buffer.alloc(FIRST_LINE_BYTES);
  try {
    const descriptor = openSync(file, FIRST_LINE_FLAGS);
    try {
      const [line = ""] = start.toString("latin1", 0, readSync(descriptor, start, 0, FIRST_LINE_BYTES, 0)).split("\n");
      return line.startsWith("#!") ? line : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** What programs of the system look for beside their libraries: data, and names of users and times. */
const PROGRAM_DATA: readonly string[] = [
  ...["/usr/share", "/usr/local/share", "/usr/libexec"],
  ...["/etc/passwd", "/etc/group", "/etc/localtime"],
];

/** Those of them that there are on this machine. */
export function programData(): readonly string[] {
  return PROGRAM_DATA.filter((path) => existsSync(path));
}
