import type { JsonValue } from "@bufbuild/protobuf";
import { decisionEvent } from "../../core/domain/decision-event.ts";
import type { EventBody } from "../../core/domain/event.ts";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { Journal } from "../../core/domain/journal.ts";
import { checkEntry, type KeyValueStores, keepEntry, listKeys, readEntry } from "../../core/domain/key-value-store.ts";
import { openLedger } from "../../core/domain/ledger.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";

/** The journal of what people did with plugins, how they died, and what they keep; reserved, no session has this id. */
export const PLUGINS_JOURNAL = "plugins";

export type PluginChange = Extract<EventBody, { case: "pluginChanged" }>["value"];
export type PluginDeath = Extract<EventBody, { case: "pluginDied" }>["value"];

/** What is kept of plugins beyond a conversation. Everything is durable before it is answered. */
export type PluginRecords = {
  /** What a person did with a plugin. */
  changed(change: PluginChange): Promise<Result<void>>;
  /** The end of a process that nobody wanted. */
  died(death: PluginDeath): Promise<Result<void>>;
  /** A decision about a permission outside every session. */
  decided(decision: PermissionDecision): Promise<Result<void>>;
  /** Undefined for a key that is not there. */
  get(plugin: string, key: string): Promise<Result<JsonValue | undefined>>;
  /** `exhausted` at the limits of a store; nothing is changed then. */
  set(plugin: string, key: string, value: JsonValue): Promise<Result<void>>;
  delete(plugin: string, key: string): Promise<Result<void>>;
  /** Keys with a beginning, in their order. */
  list(plugin: string, prefix: string): Promise<Result<readonly string[]>>;
  /** Empties a plugin's store. */
  clear(plugin: string): Promise<Result<void>>;
};

/** Reads the journal at its first use. */
export function openPluginRecords(journal: Journal): PluginRecords {
  const begin = (): KeyValueStores => new Map();
  const { read, append, work } = openLedger({ journal, id: PLUGINS_JOURNAL, begin, apply });
  const stored = (plugin: string, key: string, value?: string): EventBody => ({
    case: "pluginStored",
    value: { plugin, key, ...(value === undefined ? {} : { value }) },
  });
  return {
    changed: (value) => append({ case: "pluginChanged", value }),
    died: (value) => append({ case: "pluginDied", value }),
    decided: (decision) => append(decisionEvent(decision, "", "")),
    get: (plugin, key) => read((stores) => readEntry(stores, plugin, key)),
    set(plugin, key, value) {
      // Here, and not in its turn: what breaks breaks for nobody else.
      const json = JSON.stringify(value);
      return work<void>((stores) => {
        const wrong = checkEntry(stores, plugin, key, json);
        return wrong ?? ok({ bodies: [stored(plugin, key, json)], value: undefined });
      });
    },
    delete: (plugin, key) =>
      work<void>((stores) => {
        const there = stores.get(plugin)?.values.has(key) === true;
        return ok({ bodies: there ? [stored(plugin, key)] : [], value: undefined });
      }),
    list: (plugin, prefix) => read((stores) => listKeys(stores, plugin, prefix)),
    clear: (plugin) =>
      work<void>((stores) => {
        const bodies = listKeys(stores, plugin, "").map((key) => stored(plugin, key));
        return ok({ bodies, value: undefined });
      }),
  };
}

function apply(stores: KeyValueStores, body: EventBody): void {
  if (body.case !== "pluginStored") return;
  const { plugin = "", key = "", value } = body.value;
  keepEntry(stores, plugin, key, value);
}
