import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { isInFolder } from "../permission/grant.ts";
import type { LaunchSpec } from "./launcher.ts";
import { PIPES_LIMIT } from "./leased-spawn.ts";

/** A folder or file to show to the child: where the caller named it and where it really is. */
export type ShownPath = { readonly named: string; readonly real: string };

/** A spec whose program and paths exist on this machine. */
export type CheckedSpec = {
  /** The program as an absolute path, then its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly program: ShownPath;
  readonly read: readonly ShownPath[];
  readonly write: readonly ShownPath[];
  readonly hide: readonly string[];
  readonly held: readonly string[];
};

/** Kernel interfaces; every sandbox gets its own. */
const NEVER_SHOWN = ["/proc", "/sys", "/dev"];

/** Finds the program and every path of a launch. Throws with what is missing. */
export function checkSpec(spec: LaunchSpec): CheckedSpec {
  const [name, ...args] = spec.command;
  const program = findProgram(name, spec.env.PATH ?? "");
  if (!(spec.pipes >= 0 && spec.pipes <= PIPES_LIMIT)) {
    throw new Error(`cannot start ${name}: ${spec.pipes} pipes asked for, 0 to ${PIPES_LIMIT} are possible`);
  }
  for (const [key, value] of Object.entries(spec.env)) {
    if (key === "" || /[=\0]/.test(key) || value.includes("\0")) {
      throw new Error(`cannot start ${name}: the environment variable ${JSON.stringify(key)} has an illegal character`);
    }
  }
  if (!statSync(spec.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`cannot start ${name}: its working folder ${spec.cwd} does not exist`);
  }
  const { read, write, hide, held } = spec.confinement;
  return {
    command: [program, ...args],
    program: { named: program, real: realpathSync.native(program) },
    read: read.map((path) => findPath(name, "read", path)),
    write: write.map((path) => findPath(name, "write", path)),
    hide: (hide ?? []).flatMap(realPathIfAny),
    held: (held ?? []).flatMap(realPathIfAny),
  };
}

/** The first program of that name in the folders of a search path; its relative ones do not count. */
export function lookUpProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(":")
    .filter(isAbsolute)
    .map((dir) => join(dir, name))
    .find(isProgram);
}

function findProgram(name: string, searchPath: string): string {
  const found = name.includes("/") ? name : lookUpProgram(name, searchPath);
  if (found && isAbsolute(found) && isProgram(found)) return normalize(found);
  const where = name.includes("/") ? "" : ` in ${searchPath || "an empty PATH"}`;
  throw new Error(`cannot start ${name}: there is no such program${where}`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function findPath(program: string, kind: "read" | "write", path: string): ShownPath {
  const [real] = isAbsolute(path) ? realPathIfAny(path) : [];
  if (real === undefined) {
    throw new Error(
      `cannot start ${program}: its ${kind} path ${path} does not exist; create it or take it from the grant`,
    );
  }
  if (NEVER_SHOWN.some((root) => isInFolder(root, real))) {
    throw new Error(
      `cannot start ${program}: its ${kind} path ${path} is in ${NEVER_SHOWN.join(", ")}, which are never shared`,
    );
  }
  const named = normalize(path);
  return { named: named.length > 1 && named.endsWith("/") ? named.slice(0, -1) : named, real };
}

function realPathIfAny(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

/** Of an absolute path without links; `/` is none of them. */
export function parentFolders(path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) folders.push(folder);
  return folders;
}
