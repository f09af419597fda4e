import { type Failure, ok, type Result } from "../../core/domain/failure.ts";
import { type BreakerLimits, type HookBreaker, hookBreaker } from "./hook-breaker.ts";
import type { HookRecords, HookSwitch } from "./hook-records.ts";
import type { KnownHook } from "./known-hook.ts";

export type HookState = {
  readonly enabled: boolean;
  /** Who turned it off, and how to turn it on; undefined when it is on. */
  readonly failure: Failure | undefined;
  /** What people answered for good, and what else they should know. */
  readonly notes: readonly string[];
};

/**
 * Whether hooks are on. A person turns one off and it is not asked any more; the breaker turns one off and it answers by
 * its on-error, until its program changes or a person turns it on again.
 */
export type HookStates = {
  /** One state for each, in their order. */
  look(hooks: readonly KnownHook[]): Promise<readonly HookState[]>;
  /** The hooks that take part at all, in their order. */
  active(hooks: readonly KnownHook[]): Promise<readonly KnownHook[]>;
  /** Why a hook is not run although it takes part: the breaker has turned it off. The message goes on after its name. */
  broken(hook: KnownHook): Promise<Failure | undefined>;
  /** A person's word. */
  switch(hook: KnownHook, enabled: boolean): Promise<Result<void>>;
  /** Counts a kill; turns the hook off when it was one too many. */
  killed(hook: KnownHook): Promise<void>;
  /** They are to be removed: their stores and what people answered them for good go, and so do their switches. */
  forget(hooks: readonly KnownHook[]): Promise<Result<void>>;
};

export type HookStatesOptions = {
  readonly records: HookRecords;
  readonly breaker: BreakerLimits;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** What holds for all hooks of a kind, beside their own notes. */
  readonly notesFor: (hook: KnownHook) => readonly string[];
};

const ON: HookSwitch = { enabled: true, because: "", sourceHash: "" };

/** The name under which a hook's permissions are asked for and remembered. */
export function principalOf({ name }: KnownHook): string {
  return `hook:${name}`;
}

/** Which program it is; empty for one that cannot be bundled, and for commands. */
async function sourceHashOf(hook: KnownHook): Promise<string> {
  if (hook.kind === "command") return "";
  const program = await hook.program();
  return program.ok ? program.value.id : "";
}

export function hookStates({ records, breaker: limits, now, log, notesFor }: HookStatesOptions): HookStates {
  const breaker: HookBreaker = hookBreaker(limits, now);

  /** When the journal cannot be read nothing is off: a guard must not vanish by that. */
  async function switches(): Promise<ReadonlyMap<string, HookSwitch>> {
    const known = await records.switches();
    if (known.ok) return known.value;
    log(`hooks that were turned off are on: ${known.failure.message}`);
    return new Map();
  }

  async function switchOf(hook: KnownHook, known: ReadonlyMap<string, HookSwitch>): Promise<HookSwitch> {
    const last = known.get(hook.name) ?? ON;
    if (last.enabled || last.sourceHash === "") return last;
    return last.sourceHash === (await sourceHashOf(hook)) ? last : ON;
  }

  /** The message goes on after the hook's name. */
  function offBecause({ name }: KnownHook, { because }: HookSwitch): Failure {
    if (because === "")
      return { code: "denied", message: "is turned off by a person", hint: `turn it on: claw hook enable ${name}` };
    const hint = `mend its file, or turn it on: claw hook enable ${name}`;
    return { code: "exhausted", message: `is turned off: ${because}`, hint };
  }

  function named(hook: KnownHook, failure: Failure): Failure {
    return { ...failure, message: `hook "${hook.name}" ${failure.message}` };
  }

  function grantNotes(grants: ReadonlyMap<string, boolean> | undefined): readonly string[] {
    if (!grants || grants.size === 0) return [];
    const text = [...grants].map(([permission, allowed]) => `${allowed ? "" : "not "}${permission}`).join(", ");
    return [`a person answered for good: ${text}`];
  }

  return {
    async look(hooks) {
      // Read once for all of them: each reading waits for its turn behind what is being written.
      const [known, grants] = await Promise.all([switches(), records.allGrants()]);
      return Promise.all(
        hooks.map(async (hook) => {
          const state = await switchOf(hook, known);
          const answered = grants.ok ? grants.value.get(principalOf(hook)) : undefined;
          return {
            enabled: state.enabled,
            failure: state.enabled ? undefined : named(hook, offBecause(hook, state)),
            notes: [...notesFor(hook), ...grantNotes(answered)],
          };
        }),
      );
    },
    async active(hooks) {
      if (hooks.length === 0) return hooks;
      const known = await switches();
      // By a person: then no reason was noted.
      return hooks.filter(({ name }) => !(known.get(name)?.enabled === false && known.get(name)?.because === ""));
    },
    async broken(hook) {
      const state = await switchOf(hook, await switches());
      return state.enabled ? undefined : offBecause(hook, state);
    },
    switch(hook, enabled) {
      breaker.reset(hook.name);
      return records.switch(hook.name, { enabled, because: "", sourceHash: "" });
    },
    async killed(hook) {
      const sourceHash = await sourceHashOf(hook);
      const because = breaker.killed(hook.name, sourceHash);
      if (because === undefined) return;
      const off: HookSwitch = { enabled: false, because, sourceHash };
      const done = await records.switch(hook.name, off);
      log(named(hook, offBecause(hook, off)).message);
      if (!done.ok) log(`that could not be kept: ${done.failure.message}`);
    },
    async forget(hooks) {
      const known = await switches();
      for (const hook of hooks) {
        breaker.reset(hook.name);
        const cleared = await records.clear(hook.name);
        if (!cleared.ok) return cleared;
        const takenBack = await records.forgetGrants(principalOf(hook));
        if (!takenBack.ok) return takenBack;
        if (known.get(hook.name)?.enabled !== false) continue;
        const on = await records.switch(hook.name, ON);
        if (!on.ok) return on;
      }
      return ok(undefined);
    },
  };
}
