import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { check, type Denied, isInFolder } from "../permission/grant.ts";
import type { Grant, Permission } from "../permission/permission.ts";

/** What a guest gets for a path: the text, or an error by name and message, which shows no path that it did not name or that its folder does not give away. */
export type FileAnswer =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly name: string; readonly message: string };

/** Largest file a guest can read, bytes. It must fit into a frame with it. */
const READ_LIMIT_BYTES = 2 * 1024 * 1024;
/** Kernel interfaces: never readable, whatever was granted. */
const NEVER_READABLE = ["/proc", "/sys", "/dev", "/run"];

function refuse(name: string, message: string): FileAnswer {
  return { ok: false, name, message };
}

/** The real path of `path`, or of its longest part that exists with the rest put behind it. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPlace(parent), path.slice(parent.length + 1));
  }
}

async function withRealPlaces(permissions: readonly Permission[]): Promise<Permission[]> {
  const places = permissions.map(async (permission) => {
    if (permission.kind !== "read" || permission.path === undefined) return [permission];
    const real = await realPlace(permission.path);
    return real === permission.path ? [permission] : [permission, { kind: permission.kind, path: real }];
  });
  return (await Promise.all(places)).flat();
}

/**
 * Adds to every granted and denied path where it really lies, so that a folder that is reached through a link can be
 * granted by its name. A link made later, inside or over a granted folder, leads nowhere.
 */
export async function groundGrant(grant: Grant): Promise<Grant> {
  return { allow: await withRealPlaces(grant.allow), deny: await withRealPlaces(grant.deny) };
}

/** Where an open file really is: asked of the handle on Linux; elsewhere of the name, if it still names this file. */
async function placeOf(handle: FileHandle, path: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } catch {
    const real = await realpath(path);
    const [there, here] = await Promise.all([lstat(real), handle.stat()]);
    return there.ino === here.ino && there.dev === here.dev ? real : undefined;
  }
}

/** The checker's own words say which flag would allow it; in a hook the same stands in the header. */
function denial(path: string, { message, hint }: Denied): FileAnswer {
  return refuse("NotCapable", `"${path}": ${message}; ${hint}, in a hook with @allow`);
}

async function readHandle(handle: FileHandle, path: string, grant: Grant): Promise<FileAnswer> {
  const place = await placeOf(handle, path);
  const hidden = place === undefined || NEVER_READABLE.some((root) => isInFolder(root, place));
  if (hidden || !check(grant, { kind: "read", path: place }).ok) {
    return refuse(
      "NotCapable",
      `Requires read access to the place that "${path}" leads to, which is outside what is granted`,
    );
  }
  const info = await handle.stat();
  if (!info.isFile()) return refuse("Error", `"${path}" is not a regular file`);
  if (info.size > READ_LIMIT_BYTES)
    return refuse("Error", `"${path}" has ${info.size} bytes; ${READ_LIMIT_BYTES} are the limit`);
  const buffer = Buffer.allocUnsafe(info.size);
  let length = 0;
  // By the size it had when judged: a file that grows meanwhile must not make us read without end.
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { ok: true, value: new TextDecoder().decode(buffer.subarray(0, length)) };
}

/**
 * Reads a text file for a guest. The path must be granted as the guest wrote it and as the file really lies; the file is
 * opened first and the open file is judged and read, so that nothing can be exchanged in between.
 * @param folder absolute; relative paths start here
 * @param grant from `groundGrant`
 */
export async function readForGuest(grant: Grant, folder: string, path: string): Promise<FileAnswer> {
  if (path === "" || path.includes("\0")) return refuse("TypeError", "a path must not be empty or have a NUL in it");
  const wanted = resolve(folder, path);
  const checked = check(grant, { kind: "read", path: wanted });
  if (!checked.ok) return denial(path, checked);
  try {
    await using handle = await open(wanted, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return await readHandle(handle, path, grant);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return refuse("NotFound", `there is no file "${path}"`);
    return refuse("Error", `"${path}" could not be read (${code ?? "unknown error"})`);
  }
}
