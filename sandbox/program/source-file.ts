import { createHash } from "node:crypto";
import { type FileStamp, fileStamp } from "./file-stamp.ts";
import { openRegular } from "./regular-file.ts";

/** A file that went into a program, and what was in it. */
export type SourceFile = { readonly stamp: FileStamp; readonly hash: string };

/** Largest program, bytes of all its files together. */
export const SOURCE_LIMIT_BYTES = 1024 * 1024;

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The content of a file that may be part of a program; throws with a text that goes on after its name. */
export async function readSource(path: string): Promise<{ bytes: Buffer; stamp: FileStamp }> {
  const stamp = fileStamp(path);
  if (!stamp) throw new Error("no such file");
  const { handle, info } = await openRegular(path);
  await using file = handle;
  if (info.size > SOURCE_LIMIT_BYTES)
    throw new Error(`${info.size} bytes; a script has at most ${SOURCE_LIMIT_BYTES} with all it imports`);
  const buffer = Buffer.alloc(info.size);
  const { bytesRead } = await file.read(buffer, 0, info.size, 0);
  return { bytes: buffer.subarray(0, bytesRead), stamp };
}

/** Hash of what is in a file now; undefined when it cannot be read. */
export async function currentFile(path: string): Promise<SourceFile | undefined> {
  try {
    const { bytes, stamp } = await readSource(path);
    return { stamp, hash: hashOf(bytes) };
  } catch {
    return undefined;
  }
}
