import type { JsonValue } from "@bufbuild/protobuf";
import { decisionEvent } from "../../core/domain/decision-event.ts";
import type { EventBody } from "../../core/domain/event.ts";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { Journal } from "../../core/domain/journal.ts";
import { checkEntry, type KeyValueStores, keepEntry, listKeys, readEntry } from "../../core/domain/key-value-store.ts";
import { openLedger } from "../../core/domain/ledger.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";

/** The journal of what hooks keep and what was decided about them; reserved, no session has this id. */
export const HOOKS_JOURNAL = "hooks";

/** Why a hook is off, and for which program; an empty hash holds for every one. */
export type HookSwitch = { readonly enabled: boolean; readonly because: string; readonly sourceHash: string };
/** A lasting answer of a person, in the permission language. */
export type RememberedGrant = { readonly permission: string; readonly allowed: boolean };

type Fold = {
  readonly stores: KeyValueStores;
  /** Principal → permission → allowed. */
  readonly grants: Map<string, Map<string, boolean>>;
  readonly switches: Map<string, HookSwitch>;
};

/** What hooks keep beyond a conversation. Everything is durable before it is answered. */
export type HookRecords = {
  /** The last switch of each hook. */
  switches(): Promise<Result<ReadonlyMap<string, HookSwitch>>>;
  switch(hook: string, change: HookSwitch): Promise<Result<void>>;
  /** What people answered for good. */
  grants(principal: string): Promise<Result<readonly RememberedGrant[]>>;
  /** The same of everybody, by principal: permission → allowed. */
  allGrants(): Promise<Result<ReadonlyMap<string, ReadonlyMap<string, boolean>>>>;
  remember(principal: string, grant: RememberedGrant): Promise<Result<void>>;
  /** Takes back all that people answered for good. */
  forgetGrants(principal: string): Promise<Result<void>>;
  /** A decision about a permission outside every session. */
  decided(decision: PermissionDecision): Promise<Result<void>>;
  /** Undefined for a key that is not there. */
  get(hook: string, key: string): Promise<Result<JsonValue | undefined>>;
  /** `exhausted` at the limits of a store; nothing is changed then. */
  set(hook: string, key: string, value: JsonValue): Promise<Result<void>>;
  delete(hook: string, key: string): Promise<Result<void>>;
  /** Keys with a beginning, in their order. */
  list(hook: string, prefix: string): Promise<Result<readonly string[]>>;
  /** Empties a hook's store. */
  clear(hook: string): Promise<Result<void>>;
};

/** Opens the journal at its first use. */
export function openHookRecords(journal: Journal): HookRecords {
  const begin = (): Fold => ({ stores: new Map(), grants: new Map(), switches: new Map() });
  const { read, append, work } = openLedger({ journal, id: HOOKS_JOURNAL, begin, apply });

  return {
    switches: () => read((now) => now.switches),
    switch: (hook, change) => append({ case: "hookSwitched", value: { hook, ...change } }),
    grants: (principal) =>
      read((now) => [...(now.grants.get(principal) ?? [])].map(([permission, allowed]) => ({ permission, allowed }))),
    allGrants: () => read((now) => now.grants),
    remember: (principal, grant) => append({ case: "grantRemembered", value: { principal, ...grant } }),
    forgetGrants: (principal) =>
      work<void>((now) => {
        const back: EventBody = { case: "grantsForgotten", value: { principal } };
        return ok({ bodies: now.grants.has(principal) ? [back] : [], value: undefined });
      }),
    decided: (decision) => append(decisionEvent(decision, "", "")),
    get: (hook, key) => read((now) => readEntry(now.stores, hook, key)),
    set: (hook, key, value) =>
      work<void>((now) => {
        const json = JSON.stringify(value);
        const wrong = checkEntry(now.stores, hook, key, json);
        return wrong ?? ok({ bodies: [{ case: "hookStored", value: { hook, key, value: json } }], value: undefined });
      }),
    delete: (hook, key) =>
      work<void>((now) => {
        const there = now.stores.get(hook)?.values.has(key) === true;
        return ok({ bodies: there ? [{ case: "hookStored", value: { hook, key } }] : [], value: undefined });
      }),
    list: (hook, prefix) => read((now) => listKeys(now.stores, hook, prefix)),
    clear: (hook) =>
      work<void>((now) => {
        const keys = listKeys(now.stores, hook, "");
        return ok({ bodies: keys.map((key) => ({ case: "hookStored", value: { hook, key } })), value: undefined });
      }),
  };
}

function apply(fold: Fold, body: EventBody): void {
  switch (body.case) {
    case "hookStored": {
      const { hook = "", key = "", value } = body.value;
      keepEntry(fold.stores, hook, key, value);
      return;
    }
    case "grantRemembered": {
      const { principal = "", permission = "", allowed = false } = body.value;
      const known = fold.grants.get(principal) ?? new Map<string, boolean>();
      fold.grants.set(principal, known.set(permission, allowed));
      return;
    }
    case "grantsForgotten":
      fold.grants.delete(body.value.principal ?? "");
      return;
    case "hookSwitched": {
      const { hook = "", enabled = false, because = "", sourceHash = "" } = body.value;
      fold.switches.set(hook, { enabled, because, sourceHash });
      return;
    }
    default:
  }
}
