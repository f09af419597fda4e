import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { prefixOf } from "../index-run.ts";

/** The indexed folders, none inside another; empty without a readable list. What a lost store is rebuilt from. */
export async function readFolderList(file: string): Promise<readonly string[]> {
  try {
    const list: unknown = JSON.parse(await readFile(file, "utf8"));
    return Array.isArray(list) ? list.filter((folder) => typeof folder === "string") : [];
  } catch {
    return [];
  }
}

/** Durable on return. A folder inside a listed one adds nothing; one around listed ones takes their place. */
export async function addToFolderList(file: string, folder: string): Promise<Result<void>> {
  const listed = await readFolderList(file);
  if (listed.some((other) => prefixOf(folder).startsWith(prefixOf(other)))) return ok(undefined);
  const outside = listed.filter((other) => !prefixOf(other).startsWith(prefixOf(folder)));
  return writeFolderList(file, [...outside, folder].sort());
}

export async function removeFromFolderList(file: string, folder: string): Promise<Result<void>> {
  const listed = await readFolderList(file);
  return listed.includes(folder)
    ? writeFolderList(
        file,
        listed.filter((other) => other !== folder),
      )
    : ok(undefined);
}

async function writeFolderList(file: string, folders: readonly string[]): Promise<Result<void>> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await using handle = await open(`${file}.new`, "w", 0o600);
    await handle.writeFile(JSON.stringify(folders, undefined, 2));
    await handle.sync();
    await rename(`${file}.new`, file);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `memory cannot write ${file}: ${String(cause)}`, {
      hint: "check its owner and the free space",
      cause,
    });
  }
}
