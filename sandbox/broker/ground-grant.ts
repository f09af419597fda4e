import { realpathSync } from "node:fs";
import { access, constants, readlink, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { Grant, Permission } from "../permission/permission.ts";

/** A grant with the places that its words meant when it was given. */
export type GroundedGrant = Grant & {
  /** Granted programs: absolute path → the file that it led to then. Only this file is run under that path. */
  readonly programs: ReadonlyMap<string, string>;
};

/** Links in one path that lead to nothing and are followed nevertheless. */
const DANGLING_LINKS_MAX = 40;

/** The real path of `path`, or the one that it would have if it were there: also a link to nothing says where. */
export async function realPlace(path: string): Promise<string> {
  let wanted = path;
  for (let linksLeft = DANGLING_LINKS_MAX; ; linksLeft -= 1) {
    const { real, missing } = await realPrefix(wanted);
    const [first, ...rest] = missing;
    const target = first !== undefined && linksLeft > 0 ? await linkTarget(join(real, first)) : undefined;
    if (target === undefined) return join(real, ...missing);
    wanted = resolve(real, target, ...rest);
  }
}

/**
 * The longest part of a path that leads somewhere, resolved, and the names after it. What lies below a missing folder is
 * missing, too, so halving finds the border in a few looks, however deep a guest writes its paths.
 */
async function realPrefix(path: string): Promise<{ readonly real: string; readonly missing: readonly string[] }> {
  const names = path.split("/").filter((name) => name !== "");
  let real = "/";
  let there = 0;
  let looked = names.length;
  for (let notThere = names.length + 1; notThere - there > 1; looked = Math.floor((there + notThere) / 2)) {
    const found = await realpath(`/${names.slice(0, looked).join("/")}`).catch(() => undefined);
    if (found === undefined) notThere = looked;
    else [real, there] = [found, looked];
  }
  return { real, missing: names.slice(there) };
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch {
    return undefined;
  }
}

/**
 * The first program of that name on a path of folders; undefined when there is none.
 * @param searchPath as in PATH; its relative folders do not count
 */
async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(":").filter(isAbsolute)) {
    const path = join(folder, name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Where a program lies: looked up by its name, or as its path says. Undefined when it is not there. */
export async function programPath(program: string, searchPath: string): Promise<string | undefined> {
  if (!program.includes("/")) return findProgram(program, searchPath);
  return (await isProgram(program)) ? program : undefined;
}

/** A permission as it was written, and as it lies on this machine now. */
export async function groundPermission(permission: Permission, searchPath: string): Promise<readonly Permission[]> {
  if (permission.kind === "read" || permission.kind === "write") {
    if (permission.path === undefined) return [permission];
    const real = await realPlace(permission.path);
    return real === permission.path ? [permission] : [permission, { kind: permission.kind, path: real }];
  }
  if (permission.kind === "run" && permission.program !== undefined) {
    const path = await programPath(permission.program, searchPath);
    return path === undefined || path === permission.program
      ? [permission]
      : [permission, { kind: "run", program: path }];
  }
  return [permission];
}

/**
 * Adds to every granted and denied path where it really lies, so that a folder that is reached through a link can be
 * granted by its name, and to every program its file. A link made later, inside or over a granted folder or over a program, leads nowhere.
 * @param searchPath folders with programs, as in PATH; the one that commands are looked up in later
 */
export async function groundGrant(grant: Grant, searchPath: string): Promise<GroundedGrant> {
  const ground = async (permissions: readonly Permission[]) =>
    (await Promise.all(permissions.map((permission) => groundPermission(permission, searchPath)))).flat();
  const [allow, deny] = await Promise.all([ground(grant.allow), ground(grant.deny)]);
  return { allow, deny: deny.flatMap(withRealProgram), programs: programsOf(allow) };
}

/** The files that the granted programs with a path lead to now. */
export function programsOf(permissions: readonly Permission[]): ReadonlyMap<string, string> {
  return new Map(
    permissions.flatMap((permission) => {
      const path = permission.kind === "run" ? permission.program : undefined;
      const real = path !== undefined && isAbsolute(path) ? realFile(path) : undefined;
      return path === undefined || real === undefined ? [] : [[path, real] as const];
    }),
  );
}

/** A program that is denied is denied under all names of its file. */
function withRealProgram(permission: Permission): Permission[] {
  if (permission.kind !== "run" || permission.program === undefined || !isAbsolute(permission.program)) {
    return [permission];
  }
  const real = realFile(permission.program);
  return real === undefined || real === permission.program
    ? [permission]
    : [permission, { kind: "run", program: real }];
}

function realFile(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
