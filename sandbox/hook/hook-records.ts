import type { JsonValue } from "@bufbuild/protobuf";
import { decisionEvent } from "../../core/domain/decision-event.ts";
import type { Event, EventBody } from "../../core/domain/event.ts";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type Journal, JournalError } from "../../core/domain/journal.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";

/** The journal of what hooks keep and what was decided about them; reserved, no session has this id. */
export const HOOKS_JOURNAL = "hooks";
const KEY_LIMIT_CHARS = 256;
const VALUE_LIMIT_BYTES = 64 * 1024;
const STORE_LIMIT_BYTES = 1024 * 1024;
const STORE_LIMIT_KEYS = 1000;
/** Changes that one append takes together. */
const BATCH_MAX = 64;

/** Why a hook is off, and for which program; an empty hash holds for every one. */
export type HookSwitch = { readonly enabled: boolean; readonly because: string; readonly sourceHash: string };
/** A lasting answer of a person, in the permission language. */
export type RememberedGrant = { readonly permission: string; readonly allowed: boolean };

type Store = { readonly values: Map<string, string>; bytes: number };

type Fold = {
  lastSeq: number;
  readonly stores: Map<string, Store>;
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

/** Looks at the fold and says what to append and what to answer. */
type Work<T> = (fold: Fold) => Result<{ readonly bodies: readonly EventBody[]; readonly value: T }>;
type Queued = { run(fold: Fold): readonly EventBody[]; settle(written: Result<void>): void };

/** Opens the journal at its first use. */
export function openHookRecords(journal: Journal): HookRecords {
  let fold: Fold | undefined;
  let queue: Queued[] = [];
  /** How many at the queue's beginning have been taken out of it. */
  let taken = 0;
  let draining = false;

  async function load(): Promise<Result<Fold>> {
    if (fold) return ok(fold);
    const loaded = await foldJournal(journal);
    if (loaded.ok) fold = loaded.value;
    return loaded;
  }

  /** Decides a batch on the fold and appends it as one. A rival writer means: fold again, decide again, once. */
  async function write(batch: readonly Queued[]): Promise<Result<void>> {
    for (let attempt = 1; ; attempt += 1) {
      const loaded = await load();
      if (!loaded.ok) return loaded;
      const now = loaded.value;
      const bodies = batch.flatMap((work) => work.run(now));
      if (bodies.length === 0) return ok(undefined);
      const appended = await appendTo(journal, now.lastSeq, bodies);
      if (appended.ok) {
        now.lastSeq += bodies.length;
        return ok(undefined);
      }
      // The fold is ahead of the disk: the next one reads what is really there.
      fold = undefined;
      if (appended.failure.code !== "conflict" || attempt > 1) return appended;
    }
  }

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    while (taken < queue.length) {
      const batch = queue.slice(taken, taken + BATCH_MAX);
      taken += batch.length;
      // Only when at least half of it goes: to move what is left after each batch would take the square of its length.
      if (taken * 2 >= queue.length) {
        queue = queue.slice(taken);
        taken = 0;
      }
      const written = await write(batch).catch((cause: unknown) => {
        fold = undefined;
        return fail("unavailable", "the journal of hooks cannot be used", { cause });
      });
      for (const work of batch) work.settle(written);
    }
    draining = false;
  }

  /** In the order of asking; what a batch decides is seen by what comes after it, and told only when it is durable. */
  function inTurn<T>(work: Work<T>): Promise<Result<T>> {
    return new Promise((resolve) => {
      let decided: Result<{ readonly bodies: readonly EventBody[]; readonly value: T }> | undefined;
      queue.push({
        run(now) {
          decided = work(now);
          if (!decided.ok) return [];
          for (const body of decided.value.bodies) apply(now, body);
          return decided.value.bodies;
        },
        settle: (written) =>
          resolve(
            !written.ok || !decided?.ok ? ((decided?.ok ? written : decided) as Failed) : ok(decided.value.value),
          ),
      });
      void drain();
    });
  }

  const read = <T>(look: (fold: Fold) => T) => inTurn((now) => ok({ bodies: [], value: look(now) }));
  const append = (...bodies: EventBody[]) => inTurn<void>(() => ok({ bodies, value: undefined }));

  return {
    switches: () => read((now) => now.switches),
    switch: (hook, change) => append({ case: "hookSwitched", value: { hook, ...change } }),
    grants: (principal) =>
      read((now) => [...(now.grants.get(principal) ?? [])].map(([permission, allowed]) => ({ permission, allowed }))),
    allGrants: () => read((now) => now.grants),
    remember: (principal, grant) => append({ case: "grantRemembered", value: { principal, ...grant } }),
    forgetGrants: (principal) =>
      inTurn<void>((now) => {
        const back: EventBody = { case: "grantsForgotten", value: { principal } };
        return ok({ bodies: now.grants.has(principal) ? [back] : [], value: undefined });
      }),
    decided: (decision) => append(decisionEvent(decision, "", "")),
    get: (hook, key) =>
      read((now) => {
        const json = now.stores.get(hook)?.values.get(key);
        return json === undefined ? undefined : (JSON.parse(json) as JsonValue);
      }),
    set: (hook, key, value) =>
      inTurn<void>((now) => {
        const json = JSON.stringify(value);
        const wrong = checkEntry(now.stores.get(hook), key, json);
        return wrong ?? ok({ bodies: [{ case: "hookStored", value: { hook, key, value: json } }], value: undefined });
      }),
    delete: (hook, key) =>
      inTurn<void>((now) => {
        const there = now.stores.get(hook)?.values.has(key) === true;
        return ok({ bodies: there ? [{ case: "hookStored", value: { hook, key } }] : [], value: undefined });
      }),
    list: (hook, prefix) =>
      read((now) => [...(now.stores.get(hook)?.values.keys() ?? [])].filter((key) => key.startsWith(prefix)).sort()),
    clear: (hook) =>
      inTurn<void>((now) => {
        const keys = [...(now.stores.get(hook)?.values.keys() ?? [])];
        return ok({ bodies: keys.map((key) => ({ case: "hookStored", value: { hook, key } })), value: undefined });
      }),
  };
}

function sizeOf(key: string, json: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(json);
}

function checkEntry(store: Store | undefined, key: string, json: string) {
  if (key === "" || key.length > KEY_LIMIT_CHARS)
    return fail("invalid", `a key has 1 to ${KEY_LIMIT_CHARS} characters, not ${key.length}`);
  const bytes = Buffer.byteLength(json);
  if (bytes > VALUE_LIMIT_BYTES)
    return fail("exhausted", `a value has at most ${VALUE_LIMIT_BYTES} bytes of JSON; this one has ${bytes}`);
  if (!store) return undefined;
  const before = store.values.get(key);
  if (before === undefined && store.values.size >= STORE_LIMIT_KEYS)
    return fail("exhausted", `a store has at most ${STORE_LIMIT_KEYS} keys`, { hint: "delete some first" });
  const after = store.bytes - (before === undefined ? 0 : sizeOf(key, before)) + sizeOf(key, json);
  if (after > STORE_LIMIT_BYTES)
    return fail("exhausted", `a store has at most ${STORE_LIMIT_BYTES} bytes`, { hint: "delete some keys first" });
  return undefined;
}

async function appendTo(journal: Journal, lastSeq: number, bodies: readonly EventBody[]) {
  if (lastSeq === 0) {
    const created = await journal.create(HOOKS_JOURNAL);
    // "conflict" is the ordinary case of a journal that is there and empty.
    if (!created.ok && created.failure.code !== "conflict") return created;
  }
  return journal.append(HOOKS_JOURNAL, lastSeq, bodies);
}

async function foldJournal(journal: Journal): Promise<Result<Fold>> {
  const fold: Fold = { lastSeq: 0, stores: new Map(), grants: new Map(), switches: new Map() };
  try {
    const events = journal.read(HOOKS_JOURNAL, { after: 0, follow: false }, new AbortController().signal);
    for await (const event of events) {
      apply(fold, event.body);
      fold.lastSeq = event.seq;
    }
    return ok(fold);
  } catch (cause) {
    if (cause instanceof JournalError) return { ok: false, failure: cause.failure };
    throw cause;
  }
}

function apply(fold: Fold, body: Event["body"] | EventBody): void {
  switch (body.case) {
    case "hookStored": {
      const { hook = "", key = "", value } = body.value;
      keep(fold, hook, key, value);
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

function keep(fold: Fold, hook: string, key: string, json: string | undefined): void {
  const store = fold.stores.get(hook) ?? { values: new Map(), bytes: 0 };
  const before = store.values.get(key);
  if (before !== undefined) store.bytes -= sizeOf(key, before);
  if (json === undefined) {
    store.values.delete(key);
  } else {
    store.values.set(key, json);
    store.bytes += sizeOf(key, json);
  }
  fold.stores.set(hook, store);
}
