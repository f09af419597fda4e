import type { Exit } from "../../sandbox/os/launcher.ts";
import { LinkError } from "./plugin-link.ts";
import { EXIT_GRACE_MS } from "./start-outcome.ts";
import { waitFor } from "./wait.ts";

/**
 * How the process ended whose call failed like this; undefined when it lives. What breaks in a dying process is known a
 * moment before its end, so that is waited for, unless the plugin itself has said what is wrong.
 */
export async function exitBehind(cause: unknown, exited: Promise<Exit>): Promise<Exit | undefined> {
  if (cause instanceof LinkError && cause.kind === "refused") return undefined;
  const waited = await waitFor(exited, EXIT_GRACE_MS);
  return waited.came === "value" ? waited.value : undefined;
}
