import { constants } from "node:os";
import type { Failure, FailureCode } from "../../core/domain/failure.ts";
import type { Exit } from "../../sandbox/os/launcher.ts";

/** A start that failed; `again` says whether the very same start could succeed another time. */
export type StartFailed = { readonly ok: false; readonly failure: Failure; readonly again: boolean };
export type Started<T> = { readonly ok: true; readonly value: T } | StartFailed;

/** Codes of sysexits.h by which a program says that it can never run like this: wrong usage, wrong configuration. */
const HOPELESS_EXITS = new Set([64, 78]);

/** What a dying process held (a descriptor, a connection) breaks a moment before its exit is known. */
export const EXIT_GRACE_MS = 500;

/** A failure that may pass: the plugin is started again after a pause. */
export function failedForNow(code: FailureCode, message: string, hint?: string): StartFailed {
  return { ok: false, again: true, failure: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

/** A failure that stays until a person changes something. */
export function failedForGood(code: FailureCode, message: string, hint: string): StartFailed {
  return { ok: false, again: false, failure: { code, message, hint } };
}

export function failedByExit(name: string, exit: Exit): StartFailed {
  const message = `plugin "${name}" ${sayExit(exit)} before it said hello`;
  if (isHopeless(exit)) {
    return failedForGood("invalid", message, `mend it, then: claw plugin reload ${name}`);
  }
  return failedForNow("unavailable", message);
}

/** True when the program itself says that it can never run like this. */
export function isHopeless({ code }: Exit): boolean {
  return code !== null && HOPELESS_EXITS.has(code);
}

/** How a process ended, as words after its name. A sandbox reports the signal of its child as 128 + number. */
export function sayExit({ code, signal, lost }: Exit): string {
  if (lost === true) return "was lost with the connection to its machine";
  const name = signal ?? signalOfCode(code);
  return name === undefined ? `ended with code ${code}` : `was killed by ${name}`;
}

function signalOfCode(code: number | null): string | undefined {
  if (code === null || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}
