import type { JsonValue } from "@bufbuild/protobuf";
import { fail, type Result } from "../../core/domain/failure.ts";
import type { Capabilities } from "../broker/capabilities.ts";
import type { HookRecords } from "./hook-records.ts";

/** Changes of its store that a hook may make in one event: each is a line that is kept for good. */
const WRITES_PER_EVENT_MAX = 100;

/** A hook's own small store, shared by its conversations. */
export type MeteredStore = {
  get(key: string): Promise<Result<JsonValue | undefined>>;
  set(key: string, value: JsonValue): Promise<Result<void>>;
  delete(key: string): Promise<Result<void>>;
  list(prefix: string): Promise<Result<readonly string[]>>;
  /** An event begins. */
  refill(): void;
};

export function meteredStore(records: HookRecords, hook: string): MeteredStore {
  let left = WRITES_PER_EVENT_MAX;

  function metered(write: () => Promise<Result<void>>): Promise<Result<void>> {
    left -= 1;
    if (left >= 0) return write();
    return Promise.resolve(
      fail("exhausted", `a hook changes its store at most ${WRITES_PER_EVENT_MAX} times in one event`),
    );
  }

  return {
    get: (key) => records.get(hook, key),
    set: (key, value) => metered(() => records.set(hook, key, value)),
    delete: (key) => metered(() => records.delete(hook, key)),
    list: (prefix) => records.list(hook, prefix),
    refill() {
      left = WRITES_PER_EVENT_MAX;
    },
  };
}

/** Capabilities whose store is refilled with each event. */
export function refilled(inner: Capabilities, store: MeteredStore): Capabilities {
  return {
    call: (id, name, args) => inner.call(id, name, args),
    open: () => inner.open(),
    attend(context) {
      if (context) store.refill();
      inner.attend(context);
    },
    get hadEffect() {
      return inner.hadEffect;
    },
    get asking() {
      return inner.asking;
    },
    close: () => inner.close(),
  };
}
