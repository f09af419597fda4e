import type { Failure, Result } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import { makeBrokenListeners, makeLostGuard, type PluginListener } from "../offer/plugin-hooks.ts";
import type { Candidate } from "./judge-plugin.ts";
import type { LifeParts, RegistryParts } from "./life-parts.ts";
import { bringToLife, type LivePlugin, type Seat } from "./live-plugin.ts";

/** A plugin as the registry has it, whether it may run or not. */
export type Entry = {
  readonly name: string;
  readonly folder: string;
  readonly log: LogRing;
  /** A failure is why it may not run at all. */
  readonly live: Result<LivePlugin>;
  /** What stands for its hooks when it may not run although it was granted: a guard must not vanish by that. */
  readonly guards: readonly PluginListener[];
};

export function candidateOf(adopted: AdoptedPlugin): Candidate {
  return { name: adopted.manifest.name, folder: adopted.folder, adopted };
}

/** Judges a plugin and makes it usable as far as it may run; starts nothing. For `seat` see `bringToLife`. */
export function makeEntry(parts: LifeParts, found: Candidate, log: LogRing, seat?: Seat): Entry {
  const { name, folder } = found;
  const live = bringToLife(parts, found, log, seat);
  return { name, folder, log, live, guards: live.ok ? [] : guardsOf(parts, found, live.failure) };
}

/** What was never granted, or was turned off, guards nothing. Where no manifest says what it guarded, its grant does. */
function guardsOf({ grants }: RegistryParts, found: Candidate, failure: Failure): readonly PluginListener[] {
  // What the owner wrote down has no hooks.
  if ("adopted" in found) return [];
  const { name, read } = found;
  const grant = grants.read(name);
  if (grant.ok && grant.value?.enabled !== true) return [];
  if (read.ok) return makeBrokenListeners(read.value.manifest, failure);
  return grant.ok && grant.value?.guards === true ? makeLostGuard(name, failure) : [];
}
