import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { openTokenBucket, type TokenBucket } from "../../core/domain/token-bucket.ts";
import type { HostMethods } from "./host-method.ts";
import type { PluginRecords } from "./plugin-records.ts";

/** Changes of a store that are written at once, and then a second, bytes: each is a line that is kept for good. */
const WRITTEN_AT_ONCE_BYTES = 8 * 1024 * 1024;
const WRITTEN_PER_SECOND_BYTES = 16 * 1024;
/** What a line takes beside its key and value. */
const LINE_BYTES = 400;

/** The budget of one plugin's store, over all its processes. */
export function storeBudget(now: () => number): TokenBucket {
  return openTokenBucket(WRITTEN_AT_ONCE_BYTES, WRITTEN_PER_SECOND_BYTES, now);
}

/** The plugin's own store; no other plugin sees it, and no permission is needed. */
export function valueMethods(
  plugin: string,
  records: PluginRecords,
  budget: TokenBucket,
): HostMethods<"getValue" | "setValue" | "deleteValue" | "listKeys"> {
  async function write(bytes: number, change: () => Promise<Result<void>>): Promise<Result<Record<string, never>>> {
    if (!budget.take(LINE_BYTES + bytes))
      return fail("exhausted", `plugin "${plugin}" changes its store too often`, {
        hint: `${WRITTEN_PER_SECOND_BYTES / 1024} KiB a second are written; keep less, or less often`,
      });
    const changed = await change();
    return changed.ok ? ok({}) : changed;
  }

  return {
    async getValue({ key }) {
      const found = await records.get(plugin, key);
      if (!found.ok) return found;
      if (found.value === undefined) return ok({ found: false });
      return ok({ found: true, value: fromJson(ValueSchema, found.value) });
    },
    async setValue({ key, value }) {
      const json = readValue(value);
      if (!json.ok) return json;
      const bytes = Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(json.value));
      return write(bytes, () => records.set(plugin, key, json.value));
    },
    deleteValue: ({ key }) => write(Buffer.byteLength(key), () => records.delete(plugin, key)),
    async listKeys({ prefix }) {
      const keys = await records.list(plugin, prefix);
      return keys.ok ? ok({ keys: [...keys.value] }) : keys;
    },
  };
}

function readValue(value: Value | undefined): { readonly ok: true; readonly value: JsonValue } | Failed {
  if (value === undefined) return fail("invalid", "there is no value", { hint: "take a key out with DeleteValue" });
  try {
    return ok(toJson(ValueSchema, value));
  } catch (cause) {
    // Numbers that JSON does not have, and a value without a kind.
    return fail("invalid", "the value is no JSON", { cause });
  }
}
