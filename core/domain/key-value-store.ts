import type { JsonValue } from "@bufbuild/protobuf";
import { type Failed, fail } from "./failure.ts";

const KEY_LIMIT_CHARS = 256;
const VALUE_LIMIT_BYTES = 64 * 1024;
const STORE_LIMIT_BYTES = 1024 * 1024;
const STORE_LIMIT_KEYS = 1000;

const encoder = new TextEncoder();

/** The small store of one extension, as its journal folds to it: key → JSON. */
export type KeyValueStore = { readonly values: Map<string, string>; bytes: number };

/** The stores of many extensions, by their names. */
export type KeyValueStores = Map<string, KeyValueStore>;

/** Undefined for a key that is not there. */
export function readEntry(stores: KeyValueStores, owner: string, key: string): JsonValue | undefined {
  const json = stores.get(owner)?.values.get(key);
  return json === undefined ? undefined : (JSON.parse(json) as JsonValue);
}

/** Keys with a beginning, in their order. */
export function listKeys(stores: KeyValueStores, owner: string, prefix: string): readonly string[] {
  return [...(stores.get(owner)?.values.keys() ?? [])].filter((key) => key.startsWith(prefix)).sort();
}

/** Why an entry may not be kept: `invalid` for a key, `exhausted` at a limit; undefined when it may. */
export function checkEntry(stores: KeyValueStores, owner: string, key: string, json: string): Failed | undefined {
  if (key === "" || key.length > KEY_LIMIT_CHARS)
    return fail("invalid", `a key has 1 to ${KEY_LIMIT_CHARS} characters, not ${key.length}`);
  const bytes = byteLength(json);
  if (bytes > VALUE_LIMIT_BYTES)
    return fail("exhausted", `a value has at most ${VALUE_LIMIT_BYTES} bytes of JSON; this one has ${bytes}`);
  const store = stores.get(owner);
  if (!store) return undefined;
  const before = store.values.get(key);
  if (before === undefined && store.values.size >= STORE_LIMIT_KEYS)
    return fail("exhausted", `a store has at most ${STORE_LIMIT_KEYS} keys`, { hint: "delete some first" });
  const after = store.bytes - (before === undefined ? 0 : sizeOf(key, before)) + sizeOf(key, json);
  if (after > STORE_LIMIT_BYTES)
    return fail("exhausted", `a store has at most ${STORE_LIMIT_BYTES} bytes`, { hint: "delete some keys first" });
  return undefined;
}

/** Keeps an entry, whatever its size; without a value it is taken out. */
export function keepEntry(stores: KeyValueStores, owner: string, key: string, json: string | undefined): void {
  const store = stores.get(owner) ?? { values: new Map(), bytes: 0 };
  const before = store.values.get(key);
  if (before !== undefined) store.bytes -= sizeOf(key, before);
  if (json === undefined) {
    store.values.delete(key);
  } else {
    store.values.set(key, json);
    store.bytes += sizeOf(key, json);
  }
  stores.set(owner, store);
}

function sizeOf(key: string, json: string): number {
  return byteLength(key) + byteLength(json);
}

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
