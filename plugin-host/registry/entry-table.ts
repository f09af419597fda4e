import { discoverPlugins, findPlugin } from "../install/discover.ts";
import { createLogRing } from "../link/log-ring.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import { candidateOf, type Entry, makeEntry } from "./entry.ts";
import type { LifeParts } from "./life-parts.ts";

/** What is installed and what the owner wrote down, as it was read last: at first when somebody asks. */
export type EntryTable = {
  /** In the order of reading; what came later is last. */
  all(): readonly Entry[];
  /** Whether anybody asked yet. */
  isRead(): boolean;
  find(name: string): Entry | undefined;
  /** What a plugin's files, or its owner's words, say now; undefined when it is gone. Its entry stays as it is. */
  readAgain(name: string): Entry | undefined;
  /** Undefined takes it out. */
  put(name: string, entry: Entry | undefined): Entry | undefined;
  /** What the owner wrote down, by name, from now on; gives what they wrote before. The entries stay as they are. */
  adopt(plugins: ReadonlyMap<string, AdoptedPlugin>): ReadonlyMap<string, AdoptedPlugin>;
  /** Nothing is found any more. */
  close(): void;
};

/** @param onPut hears that an entry is another one */
export function entryTable(life: LifeParts, onPut: () => void): EntryTable {
  const { pluginsDir, now } = life;
  let entries: Map<string, Entry> | undefined;
  let adopted: ReadonlyMap<string, AdoptedPlugin> = new Map();
  let closed = false;

  function load(): Map<string, Entry> {
    entries ??= new Map(
      [...discoverPlugins(pluginsDir), ...[...adopted.values()].map(candidateOf)].map((found) => [
        found.name,
        makeEntry(life, found, createLogRing(now)),
      ]),
    );
    return entries;
  }

  return {
    all: () => [...load().values()],
    isRead: () => entries !== undefined,
    find: (name) => load().get(name),
    // The seat goes over to what may run on in it.
    readAgain(name) {
      const before = load().get(name);
      const own = adopted.get(name);
      const found = own === undefined ? findPlugin(pluginsDir, name) : candidateOf(own);
      if (closed || ("read" in found && !found.read.ok && found.read.failure.code === "not_found")) return undefined;
      const log = before?.log ?? createLogRing(now);
      const seat =
        before?.live.ok && before.live.value.supervisor.state().is !== "closed" ? before.live.value : undefined;
      const next = makeEntry(life, found, log, seat);
      // What is turned off ends; turned on again it begins anew.
      return next.live.ok && !next.live.value.grant.enabled ? makeEntry(life, found, log) : next;
    },
    put(name, entry) {
      if (entry === undefined) load().delete(name);
      else load().set(name, entry);
      onPut();
      return entry;
    },
    adopt(plugins) {
      const before = adopted;
      adopted = plugins;
      return before;
    },
    close() {
      closed = true;
    },
  };
}
