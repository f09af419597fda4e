import type { PluginAdmin } from "../core/domain/admin.ts";
import { fail, ok, type Result } from "../core/domain/failure.ts";
import { oneByOne } from "../core/domain/one-by-one.ts";
import { PluginChange } from "../proto/gen/clawd/v1/event_pb.ts";
import { type AdminParts, unknownPlugin, writtenDown } from "./admin-parts.ts";
import { farRows } from "./far-offers.ts";
import { dropHeld } from "./install/install.ts";
import { isName } from "./manifest/names.ts";
import { removeTree } from "./manifest/remove-tree.ts";
import { enablePlugin, grantPlugin, revokePlugin } from "./plugin-grants.ts";
import { installPlugin, lookAt, upgradePlugin } from "./plugin-install.ts";
import { describePlugins } from "./plugin-rows.ts";

/** What people may do with plugins. Changes happen one after the other. */
export function createPluginAdmin(given: Omit<AdminParts, "inTurn">): PluginAdmin {
  const { registry, grants, launcher, remote } = given;
  const { pluginsDir } = given.place;
  const inTurn = oneByOne();
  const parts: AdminParts = { ...given, inTurn };
  const at = async <T>(words: string, act: (path: string) => Promise<Result<T>>): Promise<Result<T>> => {
    const path = remote.pathOf(words);
    return path.ok ? act(path.value) : path;
  };
  return {
    pluginsDir,
    list: () => [
      ...describePlugins({ registry, grants, launcher, pluginsDir }),
      ...farRows(remote, (name) => registry.find(name) !== undefined),
    ],
    // In turn, because an archive is unpacked for it.
    look: (words, trust = false) => inTurn(() => at(words, (path) => lookAt(parts, path, trust))),
    install: (words, trust, seenSha256 = "") =>
      inTurn(() => at(words, (path) => installPlugin(parts, { path, trust, seenSha256 }))),
    upgrade: (words, trust, seenSha256 = "") =>
      inTurn(() => at(words, (path) => upgradePlugin(parts, { path, trust, seenSha256 }))),
    remove: (name) => inTurn(() => remove(parts, name)),
    grant: (name, permissions, trust) => inTurn(() => grantPlugin(parts, name, permissions, trust)),
    revoke: (name, permissions, trust) => inTurn(() => revokePlugin(parts, name, permissions, trust)),
    enable: (name, enabled) => inTurn(() => enablePlugin(parts, name, enabled)),
    reload: (name) => inTurn(() => reload(parts, name)),
    enrol: (name, terms, lifeMs) => remote.enrol(name, terms, lifeMs),
    unenrol: (name) => remote.unenrol(name),
    log: (name) => {
      const entry = registry.find(name);
      return entry === undefined ? unknownPlugin(name, registry) : ok(entry.log.lines());
    },
  };
}

async function remove(parts: AdminParts, name: string): Promise<Result<readonly string[]>> {
  const { registry, grants, records, artifacts, secrets, offers } = parts;
  const entry = registry.find(name);
  if (entry === undefined) return unknownPlugin(name, registry);
  const written = writtenDown(entry);
  if (written !== undefined) return written;
  const grant = grants.read(name);
  const version = grant.ok ? (grant.value?.version ?? "") : "";
  if (entry.live.ok) await entry.live.value.supervisor.close("it is being removed");
  try {
    // The grant first: files without a grant never run, a grant without files means nothing.
    await grants.remove(name);
    await removeTree(entry.folder);
    await dropHeld(parts.place.pluginsDir, name);
    await offers.forget(name);
    // What it kept goes with it: another of that name is another's.
    const [emptied, cleared, shed] = await Promise.all([
      records.clear(name),
      artifacts.clear(name),
      secrets.clear(name),
    ]);
    const gone = { granted: [], trusted: false, filesSha256: "" };
    const recorded = await records.changed({ plugin: name, change: PluginChange.REMOVED, version, ...gone });
    for (const done of [emptied, cleared, shed, recorded]) if (!done.ok) return done;
    return ok(dependants(parts, name));
  } catch (cause) {
    return fail("unavailable", `plugin "${name}" cannot be removed from ${entry.folder}`, {
      hint: "look at the rights of that folder, then remove it again",
      cause,
    });
  } finally {
    await registry.refresh(name, "it was removed");
  }
}

/** What a person should know who took this plugin away. */
function dependants({ registry }: AdminParts, name: string): readonly string[] {
  return registry
    .enabled()
    .filter(({ manifest }) => manifest.name !== name && manifest.dependencies.includes(name))
    .map(({ manifest }) => `the plugin "${manifest.name}" needs it and does not run without it`);
}

async function reload({ registry }: AdminParts, name: string): Promise<Result<void>> {
  if (registry.find(name) === undefined) {
    // It may have been put there by hand. What is no name may be a path that leads elsewhere.
    const found = isName(name) ? await registry.refresh(name, "it is being reloaded") : undefined;
    if (found === undefined) return unknownPlugin(name, registry);
  }
  const swapped = await registry.swap(name, "it is being reloaded");
  if (!swapped.ok) return swapped;
  const { live } = swapped.value;
  if (!live.ok) return live;
  if (!live.value.grant.enabled)
    return fail("conflict", `plugin "${name}" is turned off`, { hint: `claw plugin enable ${name}` });
  const running = await live.value.supervisor.acquire(new AbortController().signal);
  if (!running.ok) return running;
  running.value.release();
  return ok(undefined);
}
