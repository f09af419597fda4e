/** Denials that need no broker, because what is asked for was handed over or was not. Runs inside the isolate. */

import { denoError } from "./deno-errors.ts";

/** A hook is granted things in its header, a script on the command line. */
export type Asker = "hook" | "script";

/** The broker words its denials the same way. */
export function needs(asker: Asker, kind: "env" | "sys" | "read", value: string | null): Error {
  const grant = value === null ? kind : `${kind}=${value}`;
  const what = value === null ? `${kind} access` : `${kind} access to ${JSON.stringify(value)}`;
  const how =
    asker === "hook" ? `add "@allow ${grant}" to the hook's header` : `run again with the --allow-${grant} flag`;
  return denoError("NotCapable", `Requires ${what}, ${how}`);
}
