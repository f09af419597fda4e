import { constants, type Stats } from "node:fs";
import { type FileHandle, opendir } from "node:fs/promises";
import type { FileFacts } from "../guest/guest-protocol.ts";
import { admitPath, type FileDesk, openAdmitted } from "./file-place.ts";
import { isHarmlessDevice } from "./file-rules.ts";
import type { OpenedPlace } from "./opened-place.ts";
import { done, type Outcome, onSystem, refuse, systemError } from "./outcome.ts";

/** Largest file that a guest can read, bytes. */
const READ_LIMIT_BYTES = 4 * 1024 * 1024;
/** Most entries of a folder that a guest can list. */
export const ENTRIES_MAX = 10_000;
/** Longest JSON of a text in an answer, characters: it is quoted twice on its way, and must fit into a frame. */
const QUOTED_LIMIT_CHARS = 7 * 1024 * 1024;
/** Below this no text is too long, however it is quoted. */
const NEVER_TOO_LONG_BYTES = 1024 * 1024;

export type DirectoryEntry = {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
};

/** Opens what a path leads to, judges it, has the yes recorded, and looks at it. */
export async function look<T>(
  desk: FileDesk,
  named: string,
  act: string,
  followLast: boolean,
  work: (place: OpenedPlace) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const admitted = await admitPath(desk, "read", named, act);
  if (!admitted.ok) return admitted;
  const opened = await openAdmitted(desk, "read", admitted.value, act, followLast);
  if (!opened.ok) return opened;
  await using place = opened.value;
  const written = await admitted.value.admission.allow(place.real);
  // Awaited here: the place is closed on the way out.
  return written.ok ? await work(place) : written;
}

export async function readFileBytes(desk: FileDesk, named: string): Promise<Outcome<Buffer>> {
  const act = `readfile '${named}'`;
  return look(desk, named, act, true, async (place) => {
    if (place.facts.isDirectory()) return systemError("EISDIR", act);
    if (!place.facts.isFile() && !isHarmlessDevice(place.real)) return notRegular(named);
    const handle = await onSystem(act, () => place.use(constants.O_RDONLY));
    if (!handle.ok) return handle;
    await using file = handle.value;
    const read = await onSystem(act, () => readUpTo(file, READ_LIMIT_BYTES + 1, place.facts.size));
    return read.ok && read.value.length > READ_LIMIT_BYTES ? tooLarge(named) : read;
  });
}

/** As UTF-8; what is none of it becomes U+FFFD, and a byte order mark stays, as in Deno. */
export async function readFileText(desk: FileDesk, named: string): Promise<Outcome<string>> {
  const read = await readFileBytes(desk, named);
  if (!read.ok) return read;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(read.value);
  const fits =
    read.value.length <= NEVER_TOO_LONG_BYTES || JSON.stringify(JSON.stringify(text)).length <= QUOTED_LIMIT_CHARS;
  return fits
    ? done(text)
    : refuse("Error", `"${named}" has too many control characters for a text; use Deno.readFile`);
}

export async function listFolder(desk: FileDesk, named: string): Promise<Outcome<DirectoryEntry[]>> {
  const act = `readdir '${named}'`;
  return look(desk, named, act, true, async (place) => {
    if (!place.facts.isDirectory()) return systemError("ENOTDIR", act);
    const listed = await onSystem(act, () => readEntries(place.self));
    if (!listed.ok || listed.value.length <= ENTRIES_MAX) return listed;
    return refuse("Error", `"${named}" has more than ${ENTRIES_MAX} entries, which is the limit`);
  });
}

export async function fileFacts(desk: FileDesk, named: string, followLast: boolean): Promise<Outcome<FileFacts>> {
  return look(desk, named, `${followLast ? "stat" : "lstat"} '${named}'`, followLast, async ({ facts }) =>
    done(describeFacts(facts)),
  );
}

/** What a guest gets to know of a file, as Deno tells it. */
export function describeFacts(facts: Stats): FileFacts {
  const { size, mode, dev, ino, nlink, uid, gid, rdev, blksize, blocks } = facts;
  return {
    isFile: facts.isFile(),
    isDirectory: facts.isDirectory(),
    isSymlink: facts.isSymbolicLink(),
    mtime: Math.trunc(facts.mtimeMs),
    atime: Math.trunc(facts.atimeMs),
    birthtime: Math.trunc(facts.birthtimeMs),
    ctime: Math.trunc(facts.ctimeMs / 1000) * 1000,
    ...{ size, mode, dev, ino, nlink, uid, gid, rdev, blksize, blocks },
    isBlockDevice: facts.isBlockDevice(),
    isCharDevice: facts.isCharacterDevice(),
    isFifo: facts.isFIFO(),
    isSocket: facts.isSocket(),
  };
}

export function notRegular(named: string): Outcome<never> {
  return refuse("Error", `"${named}" is not a regular file`);
}

function tooLarge(named: string): Outcome<never> {
  return refuse("Error", `"${named}" is larger than ${READ_LIMIT_BYTES} bytes, which is the limit`);
}

/** Reads to the end or to the limit, whatever size the file was said to have. */
async function readUpTo(handle: FileHandle, limitBytes: number, expectedBytes: number): Promise<Buffer> {
  // One byte more than expected, so that the end is usually seen in one turn.
  let buffer = Buffer.allocUnsafe(Math.min(limitBytes, expectedBytes + 1));
  let length = 0;
  while (length < limitBytes) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(limitBytes, 2 * buffer.length + 4096));
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

async function readEntries(path: string): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const entry of await opendir(path)) {
    entries.push({
      name: entry.name,
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
      isSymlink: entry.isSymbolicLink(),
    });
    if (entries.length > ENTRIES_MAX) break;
  }
  return entries;
}
