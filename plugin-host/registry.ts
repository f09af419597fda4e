import { fail, ok, type Result } from "../core/domain/failure.ts";
import type { OfferNews, Tool } from "../core/domain/tool.ts";
import { candidateOf, type Entry, makeEntry } from "./entry.ts";
import { firstHearings } from "./first-hearings.ts";
import { discoverPlugins, findPlugin } from "./install/discover.ts";
import { machineClock } from "./life/clock.ts";
import { createRestartBudget } from "./life/restart-budget.ts";
import type { LifeParts, RegistryParts } from "./life-parts.ts";
import { createLogRing } from "./link/log-ring.ts";
import { waitFor } from "./link/wait.ts";
import type { LivePlugin } from "./live-plugin.ts";
import type { AdoptedPlugin } from "./manifest/adopted-plugin.ts";
import type { PluginListener } from "./offer/plugin-hooks.ts";
import { reconfigure } from "./reconfigure.ts";

/** The ladders of all plugins end within this, side by side; what is left then is killed. */
const CLOSE_LIMIT_MS = 10_000;

/** The installed plugins. Their folder is read when somebody first asks, so that the daemon's start does not wait for it. */
export type Registry = {
  all(): readonly Entry[];
  find(name: string): Entry | undefined;
  /** Stops a plugin at once and reads its files again; it is gone from the registry when its folder is. */
  refresh(name: string, reason: string): Promise<Entry | undefined>;
  /**
   * Reads a plugin's files again and lets what they say take the place of what runs, without a call failing by that: the
   * next process is started beside the old one, which leaves when its calls are over; `supervisor.alone` waits for that.
   * When that cannot be, a running process stays with its entry, and the failure says why. Where only the settings
   * changed, a process that can take them runs on. What does not run is not started; what is turned off ends.
   */
  swap(name: string, reason: string): Promise<Result<Entry>>;
  /**
   * Puts what the owner wrote down in the place of what they wrote before; installed plugins stay. What is the same runs on;
   * what changed is swapped, or, when the new one does not start, ended.
   */
  adopt(plugins: readonly AdoptedPlugin[]): Promise<void>;
  /** Starts in the background those that offer tools while they run and were never heard. */
  learn(): void;
  /** Resolves when those are heard or have failed, at the latest after ten seconds. */
  learned(signal: AbortSignal): Promise<void>;
  tools(): readonly Tool[];
  /** The list of tools is to be made anew. */
  forgetTools(): void;
  readonly offerNews: OfferNews;
  /** Of all plugins that were granted and not turned off, also of those that may not run. */
  hooks(): readonly PluginListener[];
  /** What may run and is turned on, by name. */
  enabled(): readonly LivePlugin[];
  close(): Promise<void>;
};

export function createRegistry(parts: RegistryParts): Registry {
  let entries: Map<string, Entry> | undefined;
  let offered: readonly Tool[] | undefined;
  let adopted = new Map<string, AdoptedPlugin>();
  let closed = false;
  const offerListeners = new Set<() => void>();
  const life: LifeParts = {
    ...parts,
    clock: machineClock(parts.now),
    budget: createRestartBudget(parts.now),
    inForce: new WeakMap(),
    find: (name) => load().get(name),
    onOffer: () => registry.forgetTools(),
  };
  const load = (): Map<string, Entry> => {
    entries ??= new Map(
      [...discoverPlugins(parts.pluginsDir), ...[...adopted.values()].map(candidateOf)].map((found) => [
        found.name,
        makeEntry(life, found, createLogRing(parts.now)),
      ]),
    );
    return entries;
  };
  /** The seat goes over to what may run on in it. */
  const readAgain = (name: string, before: Entry | undefined): Entry | undefined => {
    const own = adopted.get(name);
    const found = own === undefined ? findPlugin(parts.pluginsDir, name) : candidateOf(own);
    if (closed || ("read" in found && !found.read.ok && found.read.failure.code === "not_found")) return undefined;
    const log = before?.log ?? createLogRing(parts.now);
    const seat =
      before?.live.ok && before.live.value.supervisor.state().is !== "closed" ? before.live.value : undefined;
    const next = makeEntry(life, found, log, seat);
    // What is turned off ends; turned on again it begins anew.
    return next.live.ok && !next.live.value.grant.enabled ? makeEntry(life, found, log) : next;
  };
  const put = (name: string, entry: Entry | undefined): Entry | undefined => {
    if (entry === undefined) load().delete(name);
    else load().set(name, entry);
    registry.forgetTools();
    return entry;
  };
  const hearings = firstHearings((name, failure) =>
    load().get(name)?.log.add("host", `it could not be asked what it offers: ${failure.message}`),
  );
  const all = () => [...load().values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const registry: Registry = {
    all,
    enabled: () => all().flatMap(({ live }) => (live.ok && live.value.grant.enabled ? [live.value] : [])),
    find: (name) => load().get(name),
    refresh: async (name, reason) => {
      const before = load().get(name);
      const next = readAgain(name, before);
      if (before?.live.ok) {
        const { supervisor } = before.live.value;
        const goesOn = next?.live.ok && next.live.value.supervisor === supervisor;
        await (goesOn ? supervisor.replaceAtOnce(next.live.value.generation, reason) : supervisor.close(reason));
      }
      return put(name, next);
    },
    swap: async (name, reason) => {
      const before = load().get(name);
      const next = readAgain(name, before);
      const isRunning = before?.live.ok === true && before.live.value.supervisor.state().is === "ready";
      if (next === undefined || !next.live.ok) {
        if (!isRunning || next === undefined) await registry.refresh(name, reason);
        if (next?.live.ok === false) return next.live;
        return fail("not_found", `there is no plugin "${name}"`, { hint: "claw plugin list" });
      }
      // Turned off, it is to run no longer.
      if (!next.live.value.grant.enabled) return ok((await registry.refresh(name, reason)) ?? next);
      if (before?.live.ok && before.live.value.supervisor === next.live.value.supervisor) {
        const { supervisor, generation } = next.live.value;
        const configured = await reconfigure(before.live.value, next.live.value, parts.settings, life.inForce);
        if (!configured.ok) return configured;
        const replaced = configured.value ? ok(undefined) : await supervisor.replace(generation, reason);
        if (!replaced.ok) return replaced;
      }
      put(name, next);
      return ok(next);
    },
    adopt: async (plugins) => {
      const before = adopted;
      adopted = new Map(plugins.map((one) => [one.manifest.name, one]));
      if (entries === undefined) return;
      for (const name of before.keys()) {
        if (!adopted.has(name)) await registry.refresh(name, "it stands in no file any more");
      }
      for (const [name, { sha256 }] of adopted) {
        if (before.get(name)?.sha256 === sha256) continue;
        hearings.forget(name);
        const swapped = await registry.swap(name, "its configuration changed");
        if (!swapped.ok) await registry.refresh(name, "its configuration changed");
        const live = load().get(name)?.live;
        if (live?.ok && live.value.grant.enabled) hearings.hear(live.value);
      }
    },
    learn: () => {
      for (const plugin of registry.enabled()) if (!parts.offers.isKnown(plugin.manifest)) hearings.hear(plugin);
    },
    learned: async (signal) => {
      registry.learn();
      await hearings.heard(signal);
    },
    tools: () => {
      offered ??= [...load().values()].flatMap(({ live }) =>
        live.ok && live.value.grant.enabled ? live.value.tools() : [],
      );
      return offered;
    },
    forgetTools: () => {
      offered = undefined;
      for (const changed of offerListeners) changed();
    },
    offerNews: (changed) => {
      offerListeners.add(changed);
      return () => offerListeners.delete(changed);
    },
    hooks: () =>
      [...load().values()].flatMap(({ live, guards }) => {
        if (!live.ok) return guards;
        return live.value.grant.enabled ? live.value.hooks : [];
      }),
    close: async () => {
      closed = true;
      hearings.close();
      const live = [...(entries?.values() ?? [])].flatMap((entry) =>
        entry.live.ok ? [entry.live.value.supervisor] : [],
      );
      const ends = Promise.all(live.map((supervisor) => supervisor.close("the daemon ends")));
      await waitFor(ends, CLOSE_LIMIT_MS);
    },
  };
  return registry;
}
