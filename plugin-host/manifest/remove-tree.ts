import { chmod, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** A path that is longer leaves too little of the system's 4,096 bytes for what is below it. */
const LONG_PATH_BYTES = 2048;
const SLASH = Buffer.from("/");

/**
 * Removes a folder in which a plugin could write; missing is fine. The plugin may have taken the rights away that this
 * needs, or made folders so deep that no path reaches them; when it fails, both are mended first. Nothing may write there
 * any more.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** By bytes: the name of a folder need not be text. */
async function openFolders(top: string): Promise<void> {
  const folders: Buffer[] = [Buffer.from(top)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true, encoding: "buffer" })) {
      if (!entry.isDirectory()) continue;
      const inside = Buffer.concat([folder, SLASH, entry.name]);
      folders.push(inside.byteLength > LONG_PATH_BYTES ? await lift(inside, top) : inside);
    }
  }
}

/** Moves a folder up to the top, where its path is short. */
async function lift(deep: Buffer, top: string): Promise<Buffer> {
  // Moving a folder changes its "..".
  await chmod(deep, 0o700);
  const lifted = join(await mkdtemp(join(top, "lifted-")), "folder");
  await rename(deep, lifted);
  return Buffer.from(lifted);
}
