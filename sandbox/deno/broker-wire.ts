/** The longest request: a path of the system's greatest length, each byte of it escaped, and the rest. */
export const REQUEST_LIMIT_CHARS = 32 * 1024;

/** What Deno's permission broker is asked, one line each (version 1 of the format). */
export type DenoRequest = {
  /** 1, 2, 3 … on one connection. */
  readonly id: number;
  /** Of the asking process, as it knows itself. */
  readonly pid: number;
  /** "read", "net" …; may be one that is not known here. */
  readonly permission: string;
  /** As the program wrote it, a path being relative to the working folder of the moment; null for all of the kind. */
  readonly value: string | null;
};

export type DenoVerdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** Reads one line; undefined for what no Deno of this format says. */
export function readRequest(line: string): DenoRequest | undefined {
  const said = parse(line);
  if (typeof said !== "object" || said === null) return undefined;
  const { v, id, pid, permission, value } = said as Readonly<Record<string, unknown>>;
  if (v !== 1 || !isCount(id) || !isCount(pid) || typeof permission !== "string") return undefined;
  if (value !== null && typeof value !== "string") return undefined;
  return { id, pid, permission, value };
}

/** The line that answers a request. Deno takes the reason for the whole text of the error that it throws. */
export function printAnswer(id: number, verdict: DenoVerdict): string {
  const answer = verdict.allowed ? { id, result: "allow" } : { id, result: "deny", reason: verdict.reason };
  return `${JSON.stringify(answer)}\n`;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
