import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";

export const MAX_FILES = 10_000;
export const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** Never part of a plugin: they serve the author's tools only. */
const LEFT_OUT = new Set([".git", ".hg", ".svn", join("node_modules", ".bin")]);

export type FolderFile = { readonly path: string; readonly bytes: number; readonly executable: boolean };

/**
 * All files below a folder, relative, sorted. Links, sockets and devices are `invalid`; more than 10,000 files or 256 MiB
 * are `exhausted`. `skip` gets relative paths of folders and files.
 */
export async function listFolder(
  folder: string,
  skip: (path: string) => boolean,
): Promise<Result<readonly FolderFile[]>> {
  const files: FolderFile[] = [];
  let bytes = 0;
  const open: string[] = [folder];
  try {
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const entry of await readdir(at, { withFileTypes: true })) {
        const absolute = join(at, entry.name);
        const path = relative(folder, absolute);
        if (isLeftOut(path) || skip(path)) continue;
        if (entry.isDirectory()) open.push(absolute);
        else if (!entry.isFile()) return notAFile(absolute, entry.isSymbolicLink());
        else {
          const file = await statFile(absolute);
          bytes += file.bytes;
          files.push({ path, ...file });
        }
        if (files.length > MAX_FILES || bytes > MAX_TOTAL_BYTES) return tooMuch(folder);
      }
    }
  } catch (cause) {
    return unreadable(folder, cause);
  }
  return ok(files.sort((left, right) => (left.path < right.path ? -1 : 1)));
}

/**
 * True for what Python makes of a plugin's modules, which an install does not copy. In an installed folder it counts like any
 * file: Python would run what somebody put there.
 */
export function isByteCode(path: string): boolean {
  return path.split(sep).at(-1) === "__pycache__";
}

/** SHA-256, hex, over every file's path, executable bit and content. `listFolder` says what fails. */
export async function digestFolder(folder: string, skip: (path: string) => boolean): Promise<Result<string>> {
  const files = await listFolder(folder, skip);
  if (!files.ok) return files;
  const hash = createHash("sha256");
  try {
    for (const { path, executable } of files.value) {
      const handle = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const content = createHash("sha256");
        for await (const chunk of handle.createReadStream({ autoClose: false })) content.update(chunk as Buffer);
        hash.update(`${JSON.stringify([path.split(sep).join("/"), executable, content.digest("hex")])}\n`);
      } finally {
        await handle.close();
      }
    }
  } catch (cause) {
    return unreadable(folder, cause);
  }
  return ok(hash.digest("hex"));
}

async function statFile(file: string): Promise<Omit<FolderFile, "path">> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mode } = await handle.stat();
    return { bytes: size, executable: (mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

function isLeftOut(path: string): boolean {
  const parts = path.split(sep);
  return LEFT_OUT.has(parts.at(-1) ?? "") || LEFT_OUT.has(parts.slice(-2).join(sep));
}

function notAFile(path: string, link: boolean): Result<never> {
  return fail("invalid", `${path} is ${link ? "a symbolic link" : "neither a file nor a folder"}`, {
    hint: "a plugin holds plain files only: put the file itself there, or bundle the plugin into one file",
  });
}

function unreadable(folder: string, cause: unknown): Result<never> {
  return fail("unavailable", `the files in ${folder} cannot be read: ${String(cause)}`, {
    hint: "look at their rights",
    cause,
  });
}

function tooMuch(folder: string): Result<never> {
  return fail("exhausted", `${folder} holds more than ${MAX_FILES} files or ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`, {
    hint: "bundle the plugin into one file, and leave out what it does not need",
  });
}
