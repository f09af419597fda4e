import type { Failed } from "../../core/domain/failure.ts";

/** Makes the failure that says what is wrong with a field; the file is known where this comes from. */
export type Reject = (field: string, problem: string, hint?: string) => Failed;

/** A hint of the nearest of the words there are, or of all of them. */
export function hintOf(nearest: string | undefined, words: readonly string[]): string {
  return nearest === undefined ? `write one of ${words.join(", ")}` : `did you mean "${nearest}"?`;
}
