import { hash } from "node:crypto";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../../domain/failure.ts";

const READ_PIECE_BYTES = 1_048_576;
const EMBEDDER_KEY_CHARS = 16;
const FILE_NAME = /^(\d+)\.(seg|([0-9a-f]{8})\.[0-9a-f]{16}\.vec)$/;

export function segmentFile(folder: string, segmentId: number): string {
  return join(folder, `${segmentId}.seg`);
}

/** What a worker builds a segment from; removed when it is built. */
export function segmentInputFile(folder: string, segmentId: number): string {
  return join(folder, `${segmentId}.input`);
}

/** What vectors are made from in a thread; removed when they are. */
export function segmentTextFile(folder: string, segmentId: number): string {
  return join(folder, `${segmentId}.texts`);
}

/** Its name holds the segment's checksum: vectors of another segment with this number are nobody's. */
export function vectorBlockFile(
  folder: string,
  { segmentId, crc32: checksum }: { readonly segmentId: number; readonly crc32: number },
  embedderId: string,
): string {
  const embedderKey = hash("sha256", embedderId, "hex").slice(0, EMBEDDER_KEY_CHARS);
  return join(folder, `${segmentId}.${inHex(checksum)}.${embedderKey}.vec`);
}

function inHex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

/**
 * The bytes of a segment file, read in pieces so that the loop is never held. `corrupt` when it is missing, of another
 * length between two looks, or has not the checksum.
 */
export async function readSegmentFile(file: string, checksum: number): Promise<Result<SharedArrayBuffer>> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    const buffer = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(buffer);
    let sum = 0;
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(bytes, at, Math.min(READ_PIECE_BYTES, size - at), at);
      if (bytesRead === 0) break;
      sum = crc32(bytes.subarray(at, at + bytesRead), sum);
      at += bytesRead;
    }
    return sum === checksum ? ok(buffer) : damaged(file, "its checksum is another");
  } catch (cause) {
    return damaged(file, String(cause), cause);
  }
}

/**
 * Makes the folder and removes what belongs to no segment: leftovers of a run that was killed. `checksums` are those of the
 * segments there are, by their numbers.
 */
export async function tidySegmentFolder(folder: string, checksums: ReadonlyMap<number, number>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder))
    if (!belongs(name, checksums)) await rm(join(folder, name), { force: true, recursive: true });
}

function belongs(name: string, checksums: ReadonlyMap<number, number>): boolean {
  const [, segmentId, , written] = FILE_NAME.exec(name) ?? [];
  const checksum = segmentId === undefined ? undefined : checksums.get(Number(segmentId));
  return checksum !== undefined && (written === undefined || written === inHex(checksum));
}

/** Everything of one segment. Failing is harmless: what stays is an orphan, and removed at the next opening. */
export async function removeSegmentFiles(folder: string, segmentIds: readonly number[]): Promise<void> {
  if (segmentIds.length === 0) return;
  const stale = new Set(segmentIds);
  const names = await readdir(folder).catch(() => []);
  const gone = names.filter((name) => stale.has(Number.parseInt(name, 10)));
  await Promise.allSettled(gone.map((name) => rm(join(folder, name), { force: true })));
}

function damaged(file: string, reason: string, cause?: unknown): Result<never> {
  return fail("corrupt", `${file} is damaged: ${reason}`, { hint: "it is built anew by itself", cause });
}
