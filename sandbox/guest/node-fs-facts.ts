/** What `node:fs` tells of files, and how it fails. Part of a library; runs inside the isolate. */

/** `Deno.FileInfo`, as far as it is needed. */
export type Facts = {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
  readonly isBlockDevice: boolean | null;
  readonly isCharDevice: boolean | null;
  readonly isFifo: boolean | null;
  readonly isSocket: boolean | null;
  readonly atime: Date | null;
  readonly mtime: Date | null;
  readonly ctime: Date | null;
  readonly birthtime: Date | null;
} & Readonly<Record<Numbers, number | null>>;
type Numbers = (typeof NUMBERS)[number];
type Kinds = Pick<Facts, "isFile" | "isDirectory" | "isSymlink"> & Partial<Facts>;

const NUMBERS = ["dev", "mode", "nlink", "uid", "gid", "rdev", "blksize", "ino", "size", "blocks"] as const;
const TIMES = ["atime", "mtime", "ctime", "birthtime"] as const;

export const CONSTANTS = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2 } as const;

/** Node's words for what the system says, with the number of it. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [number: number, words: string]>> = {
  EPERM: [-1, "operation not permitted"],
  ENOENT: [-2, "no such file or directory"],
  EACCES: [-13, "permission denied"],
  EBUSY: [-16, "resource busy or locked"],
  EEXIST: [-17, "file already exists"],
  EXDEV: [-18, "cross-device link not permitted"],
  ENOTDIR: [-20, "not a directory"],
  EISDIR: [-21, "illegal operation on a directory"],
  EINVAL: [-22, "invalid argument"],
  EFBIG: [-27, "file too large"],
  ENOSPC: [-28, "no space left on device"],
  EROFS: [-30, "read-only file system"],
  ENAMETOOLONG: [-36, "name too long"],
  ENOTEMPTY: [-39, "directory not empty"],
  ELOOP: [-40, "too many symbolic links encountered"],
};

/** Where something failed: the call as Node names it, and its paths. */
export type Place = { readonly syscall: string; readonly path: string; readonly dest?: string };

export function systemError(code: string, { syscall, path, dest }: Place): Error {
  const [errno, words] = SYSTEM_ERRORS[code] ?? [-1, "unknown error"];
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  const error = new Error(`${code}: ${words}, ${syscall} '${path}'${to}`);
  return Object.assign(error, { errno, syscall, code, path, ...(dest !== undefined && { dest }) });
}

/** What the system says becomes Node's error; a denial and all else stay what they are. */
export function nodeError(error: unknown, place: Place): unknown {
  const { code } = (typeof error === "object" && error !== null ? error : {}) as { code?: unknown };
  if (typeof code !== "string" || !Object.hasOwn(SYSTEM_ERRORS, code) || "errno" in (error as object)) return error;
  return systemError(code, place);
}

class Kind {
  readonly #facts: Kinds;

  constructor(facts: Kinds) {
    this.#facts = facts;
  }
  isFile(): boolean {
    return this.#facts.isFile;
  }
  isDirectory(): boolean {
    return this.#facts.isDirectory;
  }
  isSymbolicLink(): boolean {
    return this.#facts.isSymlink;
  }
  isBlockDevice(): boolean {
    return this.#facts.isBlockDevice === true;
  }
  isCharacterDevice(): boolean {
    return this.#facts.isCharDevice === true;
  }
  isFIFO(): boolean {
    return this.#facts.isFifo === true;
  }
  isSocket(): boolean {
    return this.#facts.isSocket === true;
  }
}

export class Stats extends Kind {
  constructor(facts: Facts) {
    super(facts);
    const own: Record<string, unknown> = {};
    for (const name of NUMBERS) own[name] = facts[name] ?? 0;
    for (const name of TIMES) own[`${name}Ms`] = facts[name]?.getTime() ?? 0;
    for (const name of TIMES) own[name] = facts[name] ?? new Date(0);
    Object.assign(this, own);
  }
}

export class Dirent extends Kind {
  readonly name: string;
  readonly parentPath: string;

  constructor(entry: Kinds & { readonly name: string }, parentPath: string) {
    super(entry);
    this.name = entry.name;
    this.parentPath = parentPath;
  }
}
