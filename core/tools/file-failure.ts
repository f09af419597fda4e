import { type Failed, fail } from "../domain/failure.ts";

/** The system's error about a file, in our words. What is none of the system's is a broken promise and thrown again. */
export function fileFailure(cause: unknown, shown: string): Failed {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  switch (code) {
    case "ENOENT":
      return fail("not_found", `there is no ${shown}`, { hint: "list shows what is there", cause });
    case "ENOTDIR":
      return fail("invalid", `${shown} is not in a folder, or is no folder itself`, { cause });
    case "EISDIR":
      return fail("invalid", `${shown} is a folder`, { cause });
    case "ELOOP":
      return fail("denied", `${shown} is a symbolic link, or leads through one`, { cause });
    case "EACCES":
    case "EPERM":
      return fail("denied", `the system does not allow the daemon to touch ${shown}`, {
        hint: "its owner can change its mode",
        cause,
      });
    case "EROFS":
      return fail("denied", `${shown} is on a read-only disk`, { cause });
    case "ENAMETOOLONG":
      return fail("invalid", `the name ${shown.slice(0, 80)}… is too long`, { cause });
    case "ENXIO":
      return fail("invalid", `${shown} is not a regular file`, { cause });
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return fail("exhausted", `there is no space left for ${shown}`, { hint: "free some, then repeat", cause });
    case "EMFILE":
    case "ENFILE":
      return fail("exhausted", `too many files are open to open ${shown}`, { hint: "repeat it later", cause });
    default:
      if (code === undefined) throw cause;
      return fail("unavailable", `${shown} cannot be used: ${(cause as Error).message}`, { cause });
  }
}

/** Runs one step on a file and translates what the system says against it. */
export async function onFile<T>(
  shown: string,
  step: () => Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | Failed> {
  try {
    return { ok: true, value: await step() };
  } catch (cause) {
    return fileFailure(cause, shown);
  }
}
