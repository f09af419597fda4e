/** What `claw` tells its caller by its exit code. */
export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, unreachable: 4, interrupted: 130 } as const;

/**
 * Why a command did not do what it was asked: `usage` the words were wrong, `refused` the daemon said no to the command
 * itself, `unreachable` no daemon answered, `failed` everything else.
 */
export type TroubleKind = "usage" | "refused" | "unreachable" | "failed";

export type Trouble = { readonly kind: TroubleKind; readonly message: string; readonly hint?: string };
export type Failed = { readonly ok: false; readonly trouble: Trouble };
export type Result<T> = { readonly ok: true; readonly value: T } | Failed;

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function fail(kind: TroubleKind, message: string, hint = ""): Failed {
  return { ok: false, trouble: { kind, message, ...(hint === "" ? {} : { hint }) } };
}

/** The text of anything that was thrown. */
export function thrownText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** The `code` of a Node error, e.g. "ENOENT"; empty when there is none. */
export function errorCode(cause: unknown): string {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return code ?? "";
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
