import { constants, readlinkSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";

// Whoever checks a path and opens it afterwards opens what a rename put there in between. So everything is opened first,
// the open handle is asked where it really is, and from then on only the handle is used.

const HAS_PROC = process.platform === "linux";
/** Linux: a handle that only says where and what it is. Opening it wakes no FIFO and no device. */
const O_PATH = 0o10000000;
const LOOK_FLAGS = HAS_PROC ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Something that is there, held fast: whatever is put at its path now, this stays what was judged. */
export type OpenedPlace = AsyncDisposable & {
  /** Where it really is. */
  readonly real: string;
  readonly facts: Stats;
  /** A path to an entry of this very folder, wherever it has been moved meanwhile. */
  entry(name: string): string;
  /** A path to this very folder. */
  readonly self: string;
  /** Opens this very file for use. The caller closes the handle. */
  use(flags: number): Promise<FileHandle>;
};

/**
 * Opens what is at a path, to be looked at. Rejects with the system's error.
 * @param followLast false to open a link itself
 */
export async function openPlace(path: string, followLast: boolean): Promise<OpenedPlace> {
  const handle = await open(path, LOOK_FLAGS | (followLast ? 0 : constants.O_NOFOLLOW));
  try {
    const facts = await handle.stat();
    // Of a file that nobody can find any more the system only knows where it was.
    if (facts.nlink === 0) throw systemFault("ENOENT");
    const real = await realPathOf(handle, path, facts);
    const self = HAS_PROC ? `/proc/self/fd/${handle.fd}` : real;
    return {
      real,
      facts,
      self,
      entry: (name) => `${self}/${name}`,
      use: (flags) => useSame(self, flags | constants.O_NONBLOCK | constants.O_NOCTTY, facts),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** Where a handle that is open for use really is. */
export async function realPathOf(handle: FileHandle, path: string, facts: Stats): Promise<string> {
  const real = HAS_PROC ? readlinkSync(`/proc/self/fd/${handle.fd}`) : await sameRealPath(path, facts);
  // Pipes, sockets and what lies outside of our root have names of another kind.
  if (!real.startsWith("/")) throw systemFault("EINVAL");
  return real;
}

async function useSame(self: string, flags: number, facts: Stats): Promise<FileHandle> {
  if (HAS_PROC) return open(self, flags);
  const handle = await open(self, flags | constants.O_NOFOLLOW);
  const now = await handle.stat();
  if (now.ino === facts.ino && now.dev === facts.dev) return handle;
  await handle.close();
  throw systemFault("ESTALE");
}

async function sameRealPath(path: string, facts: Stats): Promise<string> {
  const real = await realpath(path);
  const there = await lstat(real);
  if (there.ino !== facts.ino || there.dev !== facts.dev) throw systemFault("ESTALE");
  return real;
}

function systemFault(code: string): Error {
  return Object.assign(new Error(`${code}: what was opened is no longer at its path`), { code });
}
