import type { Result } from "../../core/domain/failure.ts";
import type { OfferNews, Tool } from "../../core/domain/tool.ts";
import { machineClock } from "../life/clock.ts";
import { createRestartBudget } from "../life/restart-budget.ts";
import { waitFor } from "../link/wait.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import type { PluginListener } from "../offer/plugin-hooks.ts";
import type { Entry } from "./entry.ts";
import { refreshEntry, swapEntry } from "./entry-exchange.ts";
import { entryTable } from "./entry-table.ts";
import { firstHearings } from "./first-hearings.ts";
import type { LifeParts, RegistryParts } from "./life-parts.ts";
import type { LivePlugin } from "./live-plugin.ts";
import { toolList } from "./tool-list.ts";

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
  const life: LifeParts = {
    ...parts,
    clock: machineClock(parts.now),
    budget: createRestartBudget(parts.now),
    inForce: new WeakMap(),
    find: (name) => table.find(name),
    onOffer: () => offered.forget(),
  };
  const table = entryTable(life, () => offered.forget());
  const offered = toolList(table.all);
  const hearings = firstHearings((name, failure) =>
    table.find(name)?.log.add("host", `it could not be asked what it offers: ${failure.message}`),
  );

  function all(): readonly Entry[] {
    return [...table.all()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }
  function enabled(): readonly LivePlugin[] {
    return all().flatMap(({ live }) => (live.ok && live.value.grant.enabled ? [live.value] : []));
  }
  function learn(): void {
    for (const plugin of enabled()) if (!parts.offers.isKnown(plugin.manifest)) hearings.hear(plugin);
  }
  async function adopt(plugins: readonly AdoptedPlugin[]): Promise<void> {
    const adopted = new Map(plugins.map((one) => [one.manifest.name, one]));
    const before = table.adopt(adopted);
    // Whoever reads them for the first time finds these.
    if (!table.isRead()) return;
    for (const name of before.keys()) {
      if (!adopted.has(name)) await refreshEntry(table, name, "it stands in no file any more");
    }
    for (const [name, { sha256 }] of adopted) {
      if (before.get(name)?.sha256 === sha256) continue;
      hearings.forget(name);
      const swapped = await swapEntry(table, life, name, "its configuration changed");
      if (!swapped.ok) await refreshEntry(table, name, "its configuration changed");
      const live = table.find(name)?.live;
      if (live?.ok && live.value.grant.enabled) hearings.hear(live.value);
    }
  }

  return {
    all,
    enabled,
    adopt,
    learn,
    find: table.find,
    refresh: (name, reason) => refreshEntry(table, name, reason),
    swap: (name, reason) => swapEntry(table, life, name, reason),
    async learned(signal) {
      learn();
      await hearings.heard(signal);
    },
    tools: offered.tools,
    forgetTools: offered.forget,
    offerNews: offered.news,
    hooks: () =>
      table.all().flatMap(({ live, guards }) => {
        if (!live.ok) return guards;
        return live.value.grant.enabled ? live.value.hooks : [];
      }),
    async close() {
      table.close();
      hearings.close();
      const live = table.isRead() ? table.all().flatMap((entry) => (entry.live.ok ? [entry.live.value] : [])) : [];
      const ends = live.map(({ supervisor }) => supervisor.close("the daemon ends"));
      await waitFor(Promise.all(ends), CLOSE_LIMIT_MS);
    },
  };
}
