import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Its text; undefined when there is no such file. Rejects with what the file system says. */
export async function readOwnFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** Writes a file for its owner alone, whole or not at all, durable when it resolves. */
export async function writeOwnFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  await writeAndSync(fresh, text);
  await rename(fresh, file);
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeAndSync(file: string, text: string): Promise<void> {
  const handle = await open(file, "w", 0o600);
  try {
    // One that a crash left behind may have had other rights.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
