import type { CallError } from "../guest/guest-protocol.ts";

/** What came of a call, as its guest may know it: errors by name and text, no causes, no stacks, no places it did not name. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused;
export type Refused = { readonly ok: false; readonly error: CallError };

export function done<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** @param name of `Deno.errors` or of JavaScript */
export function refuse(name: string, message: string): Refused {
  return { ok: false, error: { name, message } };
}

/** System errors as Deno names and words them on Linux: the name, the words, the number. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [name: string, words: string, number: number]>> = {
  EPERM: ["PermissionDenied", "Operation not permitted", 1],
  EBADF: ["Error", "Bad file descriptor", 9],
  ENOENT: ["NotFound", "No such file or directory", 2],
  EACCES: ["PermissionDenied", "Permission denied", 13],
  EBUSY: ["Busy", "Device or resource busy", 16],
  EEXIST: ["AlreadyExists", "File exists", 17],
  EXDEV: ["Error", "Invalid cross-device link", 18],
  ENOTDIR: ["NotADirectory", "Not a directory", 20],
  EISDIR: ["IsADirectory", "Is a directory", 21],
  EINVAL: ["TypeError", "Invalid argument", 22],
  ETXTBSY: ["Busy", "Text file busy", 26],
  EFBIG: ["Error", "File too large", 27],
  ENOSPC: ["Error", "No space left on device", 28],
  EROFS: ["Error", "Read-only file system", 30],
  ENAMETOOLONG: ["Error", "File name too long", 36],
  ENOTEMPTY: ["Error", "Directory not empty", 39],
  ELOOP: ["FilesystemLoop", "Too many levels of symbolic links", 40],
};

/** One error of the table. @param act what failed, in the guest's own words: `readfile 'x'`; "" for what is open already */
export function systemError(code: string, act: string): Refused {
  const known = Object.hasOwn(SYSTEM_ERRORS, code) ? SYSTEM_ERRORS[code] : undefined;
  const what = act === "" ? "" : `: ${act}`;
  if (known === undefined) return refuse("Error", `operation failed (${code})${what}`);
  const [name, words, number] = known;
  return refuse(name, `${words} (os error ${number})${what}`);
}

/** The code of a system error; undefined for what is none. */
export function systemCode(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

/** Does something with the system and translates its errors; broken promises of our own code go on. */
export async function onSystem<T>(act: string, work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return done(await work());
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw cause;
    return systemError(code, act);
  }
}
