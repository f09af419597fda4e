import { lstat, mkdir, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder, isSecretName } from "../../sandbox/permission/grant.ts";
import { type Grant, type Permission, parsePermission } from "../../sandbox/permission/permission.ts";
import { isReservedVariable } from "./launch.ts";
import { MANIFEST_FILE, type PluginManifest } from "./manifest.ts";

/** What a person reads before they grant it: the permission, the author's reason, and what we cannot hold it to. */
export type Want = { readonly permission: string; readonly reason: string };

/** What a launch sets by itself. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(["HOME", "PATH", "TMPDIR"]);

/** Folders that no plugin may write: those of clawd. */
export type Reserved = readonly string[];

/**
 * Turns what a manifest asks for into permissions; relative paths are those of `folder`. `invalid` names the entry that
 * cannot be granted to a plugin; `file` is where it stands.
 */
export function judgeWants(
  manifest: PluginManifest,
  folder: string,
  reserved: Reserved,
  file = join(folder, MANIFEST_FILE),
): Result<Grant> {
  const allow: Permission[] = [];
  for (const [index, { permission }] of manifest.wants.entries()) {
    const at = `${file}: permissions[${index}] ${JSON.stringify(permission)}`;
    const parsed = parsePermission(permission, folder);
    if (!parsed.ok) return fail("invalid", `${at}: ${parsed.message}`);
    for (const one of parsed.value) {
      const problem = findProblem(one, folder, reserved);
      if (problem !== undefined) return fail("invalid", `${at} ${problem}`);
    }
    allow.push(...parsed.value);
  }
  return ok({ allow, deny: [] });
}

function findProblem(permission: Permission, folder: string, reserved: Reserved): string | undefined {
  switch (permission.kind) {
    case "read":
    case "write": {
      if (permission.path === undefined || permission.path === "/") {
        return `is too much: name the folders, e.g. "${permission.kind}=./data"`;
      }
      return permission.kind === "write" ? findWriteProblem(permission.path, folder, reserved) : undefined;
    }
    case "memory":
      return permission.access === "read" && permission.namespace === undefined
        ? undefined
        : 'is not offered to plugins: only "memory=read" is';
    case "net":
    case "run":
      return undefined;
    case "env":
      return findVariableProblem(permission.name);
    case "tool":
      return permission.name === undefined ? 'is too much: name the tools, e.g. "tool=read"' : undefined;
    case "sys":
      return "means nothing for a plugin: what its sandbox shows of the machine it sees without asking. Remove it";
    default:
      return `is of the unknown kind ${JSON.stringify(permission satisfies never)}`;
  }
}

/** Each by its own name: nobody can tell what else begins so in the daemon's environment, or will. */
function findVariableProblem(name: string | undefined): string | undefined {
  if (name === undefined || name.endsWith("*")) return 'is too much: name each variable, e.g. "env=HTTP_TIMEOUT"';
  if (isReservedVariable(name)) return "is a variable that no plugin may have. Remove it";
  if (OWN_VARIABLES.has(name)) return "is a variable that each plugin has of its own. Remove it";
  return undefined;
}

function findWriteProblem(path: string, folder: string, reserved: Reserved): string | undefined {
  if (isInFolder(path, folder)) return 'would let it change itself: name a folder of its own, e.g. "write=./data"';
  if (isInFolder(folder, path)) return undefined;
  const hit = reserved.find((one) => isInFolder(path, one) || isInFolder(one, path));
  return hit === undefined ? undefined : `would let it write in ${hit}, which is clawd's own`;
}

/** For people: where a permission means more or less than its words say, they must know. */
export function explainWants(manifest: PluginManifest): readonly Want[] {
  return manifest.wants.map(({ permission, reason }) => {
    const notes = [reason];
    // The parser takes spaces around the word too.
    if (/^\s*net\s*$/.test(permission))
      notes.push("(every public address; not this machine or the networks around it)");
    if (/^\s*run\s*$/.test(permission)) notes.push("(every program of the system, inside its own walls)");
    if (/^\s*run\s*=/.test(permission)) notes.push("(these programs and no others, inside its own walls)");
    const secrets = namesOfVariables(permission).filter(isSecretName);
    if (secrets.length > 0) notes.push(`(A SECRET of yours is handed to it: ${secrets.join(", ")})`);
    return { permission, reason: notes.filter((note) => note !== "").join(" ") };
  });
}

function namesOfVariables(permission: string): readonly string[] {
  const parsed = parsePermission(permission, "/");
  if (!parsed.ok) return [];
  return parsed.value.flatMap((one) => (one.kind === "env" && one.name !== undefined ? [one.name] : []));
}

/** Paths inside the plugin's folder that it may write, relative: never part of what was granted by digest. */
export function ownWritePaths(granted: Grant, folder: string): readonly string[] {
  return granted.allow.flatMap((one) =>
    one.kind === "write" && one.path !== undefined && isInFolder(folder, one.path) ? [relative(folder, one.path)] : [],
  );
}

/**
 * Makes the plugin's own writable folders, and looks where the others really are: a link must not lead into a reserved
 * folder. `not_found` names a granted path that is missing.
 */
export async function prepareWritePaths(granted: Grant, folder: string, reserved: Reserved): Promise<Result<void>> {
  try {
    for (const path of ownWritePaths(granted, folder)) await makeFolder(join(folder, path));
  } catch (cause) {
    return fail("unavailable", `the writable folders of ${folder} cannot be made: ${String(cause)}`, {
      cause,
      hint: "look at the rights of that folder and at the free space",
    });
  }
  const realFolder = await realpath(folder);
  const realReserved = await Promise.all(reserved.map((one) => realpath(one).catch(() => one)));
  for (const one of granted.allow) {
    if ((one.kind !== "read" && one.kind !== "write") || one.path === undefined) continue;
    const real = await realpath(one.path).catch(() => undefined);
    if (real === undefined) {
      const hint = `create it: mkdir -p ${one.path}`;
      return fail("not_found", `the granted path ${one.path} does not exist`, { hint });
    }
    if (one.kind !== "write") continue;
    const problem = findWriteProblem(real, realFolder, realReserved);
    if (problem !== undefined) return fail("denied", `the granted path ${one.path} leads to ${real}, which ${problem}`);
  }
  return ok(undefined);
}

async function makeFolder(path: string): Promise<void> {
  // A plugin may ask to write a file that it brings along.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return;
  await mkdir(path, { recursive: true, mode: 0o700 });
}
