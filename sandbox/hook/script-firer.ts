import { createHash } from "node:crypto";
import type { HookContext, HookEvent } from "../../core/domain/hook.ts";
import { showable } from "../../core/domain/showable.ts";
import type { BrokerContext, Capabilities } from "../broker/capabilities.ts";
import { type GroundedGrant, groundGrant } from "../broker/ground-grant.ts";
import { type CapabilityOptions, openCapabilities } from "../broker/open-capabilities.ts";
import type { Engine, Fired, GuestPlan } from "../isolate/engine.ts";
import { check } from "../permission/grant.ts";
import { parsePermission } from "../permission/permission.ts";
import type { ScriptProgram } from "../program/script-program.ts";
import type { HookRecords } from "./hook-records.ts";
import { principalOf } from "./hook-states.ts";
import { meteredStore, refilled } from "./hook-store.ts";
import type { ScriptHook } from "./known-hook.ts";

/** What a person said for good, as the broker takes it. */
type LastingAnswers = CapabilityOptions["remembered"];

/** What all hooks may reach of the machine, as far as they are granted it. */
export type HookReach = Pick<
  CapabilityOptions,
  "launcher" | "egress" | "env" | "searchPath" | "protectedWrite" | "hidden" | "now" | "sysFacts" | "memory"
>;

export type ScriptFirerOptions = {
  readonly engine: Engine;
  readonly broker: HookReach;
  readonly records: HookRecords;
  readonly log: (hook: string, line: string) => void;
  /** A hook's process had to be killed while no event could be told of it. */
  readonly killed: (hook: ScriptHook) => void;
};

/** Fires events at scripts. */
export type ScriptFirer = {
  /** `guest` keeps isolates of one hook apart: one a session. Never rejects; a failure's message goes on after its name. */
  fire(
    hook: ScriptHook,
    guest: string,
    event: HookEvent,
    context: HookContext,
    log: (line: string) => void,
  ): Promise<Fired>;
  /** Drops the isolates of a session that has ended. */
  forget(guest: string): void;
  /** The hook of this name was removed: another one of the name gets none of its isolates, which know its old answers. */
  retire(hook: string): void;
};

/** Sessions whose isolates are known by name; those of older ones end by themselves when nothing happens in them. */
const SESSIONS_MAX = 1024;

/** Processes are shared within a package and a workspace, and not beyond. */
function groupOf(hook: ScriptHook, workspace: string): string {
  return JSON.stringify([hook.group, workspace]);
}

/** Each line by itself: one that goes on as a second line would look like somebody else's. */
function logLines(text: string, log: (line: string) => void): void {
  for (const line of showable(text).split("\n")) log(line);
}

/** Another program, grant or life is another guest: the first one keeps what it was opened with. */
function guestName(hook: ScriptHook, program: ScriptProgram, guest: string, life: number): string {
  const { grant, level } = hook.header;
  const opened = createHash("sha256")
    .update(JSON.stringify([program.id, grant, level, life]))
    .digest("hex");
  return JSON.stringify([hook.name, guest, opened]);
}

export function scriptFirer(options: ScriptFirerOptions): ScriptFirer {
  const { engine, records, log: warn } = options;
  /** What a header's words meant when it was read. */
  const grounded = new WeakMap<ScriptHook, Promise<GroundedGrant>>();
  /** Session → the names of its guests, each with its group. */
  const sessions = new Map<string, Map<string, string>>();
  /** How often a hook of a name was removed. */
  const lives = new Map<string, number>();

  function groundedGrant(hook: ScriptHook): Promise<GroundedGrant> {
    const known = grounded.get(hook) ?? groundGrant(hook.header.grant, options.broker.searchPath);
    grounded.set(hook, known);
    return known;
  }

  function note(session: string, guest: string, group: string): void {
    const guests = sessions.get(session) ?? new Map<string, string>();
    sessions.delete(session);
    sessions.set(session, guests.set(guest, group));
    const [oldest] = sessions.keys();
    if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest);
  }

  async function remembered(hook: ScriptHook): Promise<LastingAnswers> {
    const grants = await records.grants(principalOf(hook));
    if (!grants.ok) return [];
    return grants.value.flatMap(({ permission: text, allowed }) => {
      const parsed = parsePermission(text, hook.folder);
      return parsed.ok ? parsed.value.map((permission) => ({ permission, allowed })) : [];
    });
  }

  /** What people answer for good is kept before the hook hears of it. */
  function contextFor({ record, ask, toolName, callTool }: HookContext): BrokerContext {
    return {
      record,
      tools: { toolName, callTool },
      async ask(question) {
        const word = await ask(question);
        if (word.said === "nobody" || word.scope !== "always") return word;
        const kept = await records.remember(question.principal, {
          permission: question.permission,
          allowed: word.said === "yes",
        });
        if (!kept.ok) warn(question.principal, `the answer for good could not be kept: ${kept.failure.message}`);
        return word;
      },
    };
  }

  async function planFor(hook: ScriptHook, program: ScriptProgram, log: (line: string) => void): Promise<GuestPlan> {
    const [grant, lasting] = await Promise.all([groundedGrant(hook), remembered(hook)]);
    return {
      name: hook.name,
      program,
      args: [],
      // Where hooks lie is the person's business, until the grant says otherwise.
      cwd: check(grant, { kind: "read", path: hook.folder }).ok ? hook.folder : "",
      capabilities(): Capabilities {
        const store = meteredStore(records, hook.name);
        const opened = openCapabilities({
          ...options.broker,
          principal: principalOf(hook),
          sourceHash: program.id,
          grant,
          cwd: hook.folder,
          mode: "hook",
          mayAsk: true,
          store,
          remembered: lasting,
        });
        return refilled(opened, store);
      },
      log: (_to, text) => logLines(program.explainPrinted(text).replace(/\n$/, ""), log),
      fault: (error) => logLines(`uncaught ${error.full}`, log),
      killed({ message }) {
        logLines(`${hook.name} ${message}`, log);
        options.killed(hook);
      },
    };
  }

  return {
    async fire(hook, guest, event, context, log) {
      const program = await hook.program();
      if (!program.ok) {
        const { code, message } = program.failure;
        return {
          ok: false,
          failure: { code, message: `is broken: ${message}`, cause: program.failure },
          killed: false,
        };
      }
      const group = groupOf(hook, event.workspace);
      const name = guestName(hook, program.value, guest, lives.get(hook.name) ?? 0);
      note(guest, name, group);
      return engine.fire({
        ...{ group, guest: name },
        plan: await planFor(hook, program.value, log),
        event: { ...event },
        timeoutMs: hook.header.timeoutMs,
        context: contextFor(context),
        signal: context.signal,
      });
    },
    forget(guest) {
      for (const [name, group] of sessions.get(guest) ?? []) engine.forget(group, name);
      sessions.delete(guest);
    },
    retire: (hook) => void lives.set(hook, (lives.get(hook) ?? 0) + 1),
  };
}
