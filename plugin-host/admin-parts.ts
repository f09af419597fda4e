import { type Failed, fail, type Result } from "../core/domain/failure.ts";
import { PluginChange } from "../proto/gen/clawd/v1/event_pb.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { GrantStore, StoredGrant } from "./install/grant-store.ts";
import type { InstallPlace } from "./install/install.ts";
import type { ToolOffers } from "./offer/tool-offers.ts";
import type { Entry } from "./registry/entry.ts";
import type { Registry } from "./registry/registry.ts";
import type { RemoteDoor } from "./remote/remote-door.ts";
import type { Artifacts } from "./service/artifacts.ts";
import type { PluginRecords } from "./service/plugin-records.ts";
import type { Secrets } from "./service/secrets.ts";

export type AdminParts = {
  readonly registry: Registry;
  readonly grants: GrantStore;
  readonly records: PluginRecords;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly remote: RemoteDoor;
  readonly offers: ToolOffers;
  readonly place: InstallPlace;
  readonly launcher: Launcher;
  readonly now: () => number;
  /** Runs a change behind those that were asked for before. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>;
};

/** Lets what is on disk now take the place of what runs, without a call failing by that; see `Registry.swap`. */
export async function renew(
  { registry }: AdminParts,
  name: string,
  reason: string,
  grant: StoredGrant,
): Promise<Result<void>> {
  if (grant.enabled) {
    const swapped = await registry.swap(name, reason);
    return swapped.ok ? { ok: true, value: undefined } : swapped;
  }
  await registry.refresh(name, reason);
  return { ok: true, value: undefined };
}

/** What a person decided, on record before it counts. */
export async function writeGrant(
  { grants, records }: AdminParts,
  name: string,
  change: PluginChange,
  grant: StoredGrant,
): Promise<Result<void>> {
  const recorded = await records.changed(changeOf(name, change, grant));
  return recorded.ok ? grants.write(name, grant) : recorded;
}

/** The same for what takes something away: it counts at once, whatever becomes of its record. */
export async function writeLess(
  { grants, records }: AdminParts,
  name: string,
  change: PluginChange,
  grant: StoredGrant,
): Promise<Result<void>> {
  const written = await grants.write(name, grant);
  const recorded = await records.changed(changeOf(name, change, grant));
  return written.ok ? recorded : written;
}

function changeOf(name: string, change: PluginChange, grant: StoredGrant) {
  const { version, allow, trusted, filesSha256, heldSha256 } = grant;
  return {
    plugin: name,
    change,
    version,
    granted: [...allow],
    trusted,
    filesSha256: change === PluginChange.HELD ? heldSha256 : filesSha256,
  };
}

/** The grant of an installed plugin, which is what a person changes. */
export function findGrant({ registry, grants }: AdminParts, name: string): Result<StoredGrant> {
  const entry = registry.find(name);
  if (entry === undefined) return unknownPlugin(name, registry);
  const written = writtenDown(entry);
  if (written !== undefined) return written;
  const grant = grants.read(name);
  if (!grant.ok) return grant;
  if (grant.value !== undefined) return { ok: true, value: grant.value };
  return entry.live.ok ? unknownPlugin(name, registry) : entry.live;
}

/** A plugin that stands in a file of the owner's is changed there, and nowhere else. */
export function writtenDown({ name, live }: Entry): Failed | undefined {
  if (!live.ok || live.value.adopted === undefined) return undefined;
  const { source } = live.value.adopted;
  return fail("conflict", `"${name}" was not installed: it stands in ${source}`, {
    hint: 'its entry says "disabled", "allow" and "trust": change it there, then claw mcp reload; claw mcp remove takes it out',
  });
}

export function unknownPlugin(name: string, registry: Registry): Result<never> {
  const names = registry.all().map((entry) => entry.name);
  const hint = names.length === 0 ? "none is installed: claw plugin install FOLDER" : `there are: ${names.join(", ")}`;
  return fail("not_found", `Plugin '${name}' not found`, { hint });
}
