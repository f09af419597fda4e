import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** To open a pipe that nobody writes to would wait for ever, and hold one of the few threads that all files share. */
const LOOK_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

export type RegularFile = { readonly handle: FileHandle; readonly info: Stats };

/** Opens a file for reading. Throws what the system says, and for what is none: a folder, a pipe, a device. */
export async function openRegular(path: string): Promise<RegularFile> {
  const handle = await open(path, LOOK_FLAGS);
  const info = await handle.stat();
  if (info.isFile()) return { handle, info };
  await handle.close();
  throw new Error("not a regular file");
}
