import type { JsonValue } from "@bufbuild/protobuf";
import { fail, type Result } from "../../core/domain/failure.ts";
import type { HookEvent } from "../../core/domain/hook.ts";
import type { Launcher } from "../os/launcher.ts";
import type { Grant } from "../permission/permission.ts";
import { type Environment, viewEnvironment } from "./environment.ts";
import { groundGrant, readForGuest } from "./guest-files.ts";
import { type GuestFailed, type GuestSession, openGuestSession } from "./guest-session.ts";
import { showable } from "./guest-words.ts";
import type { HookScript } from "./hook-folder.ts";
import { type HostFiles, type HostProcess, startHost } from "./host-process.ts";
import type { IsolateLimits } from "./limits.ts";
import type { ScriptProgram } from "./script-program.ts";
import { type SlotQueue, slotQueue } from "./slot-queue.ts";

export type Firing = {
  readonly hook: HookScript;
  /** Keeps isolates of one hook apart: one a session. */
  readonly guest: string;
  readonly event: HookEvent;
  log(line: string): void;
  readonly signal: AbortSignal;
};

/** Fires events at hook scripts: one leased process a hook, one isolate a session in it, both kept warm for a while. */
export type HookPool = {
  /** What the hook returned, or how it failed; the message goes on after the hook's name. Never rejects. */
  fire(firing: Firing): Promise<Result<JsonValue>>;
  /** Drops a guest that will not be needed again. */
  forget(hook: HookScript, guest: string): void;
  /** Kills all hosts, and waits until they are gone. */
  close(): Promise<void>;
};

/** Processes that live at one moment; the one without work for longest makes room. */
const HOSTS_MAX = 8;
/** Events that one hook answers at one moment, and so the isolates it needs. */
const EVENTS_AT_ONCE_MAX = 16;
/** A process is replaced after so many isolates: their memory does not all come back. */
const GUESTS_PER_HOST_MAX = 500;
/** Texts a hook may send during one event. */
const WORDS_MAX = 2000;

type Opened = { readonly programId: string; readonly session: GuestSession };

/** Everything there is of one hook at run time. */
type Lodging = {
  readonly slots: SlotQueue;
  readonly guests: Map<string, Opened>;
  host: HostProcess | undefined;
  /** Events under way. */
  busy: number;
  idle: NodeJS.Timeout | undefined;
  /** Ends when the last event that was tried again has. */
  alone: Promise<unknown>;
};

export type PoolOptions = {
  readonly launcher: Launcher;
  readonly files: HostFiles;
  /** Where relative paths of hooks start. */
  readonly folder: string;
  readonly env: Environment;
  readonly limits: IsolateLimits;
};

/** Opens an empty pool; nothing is started before the first event. */
export function hookPool({ launcher, files, folder, env, limits }: PoolOptions): HookPool {
  /** In the order of last use. */
  const lodgings = new Map<string, Lodging>();
  const hosts = new Set<HostProcess>();
  let freed = Promise.withResolvers<void>();
  let closed = false;

  function lodgingOf(hook: HookScript): Lodging {
    const lodging = lodgings.get(hook.file) ?? {
      slots: slotQueue(EVENTS_AT_ONCE_MAX),
      guests: new Map(),
      host: undefined,
      busy: 0,
      idle: undefined,
      alone: Promise.resolve(),
    };
    lodgings.delete(hook.file);
    lodgings.set(hook.file, lodging);
    return lodging;
  }

  function stop(lodging: Lodging): void {
    clearTimeout(lodging.idle);
    lodging.guests.clear();
    lodging.host?.kill();
    lodging.host = undefined;
  }

  /** Sends away a process that has no work, or waits until one has none. */
  async function makeRoom(): Promise<void> {
    const idle = [...lodgings.values()].find((lodging) => lodging.host && !lodging.host.death && lodging.busy === 0);
    const leaving = idle?.host?.gone;
    if (idle) stop(idle);
    await (leaving ?? freed.promise);
  }

  async function hostOf(lodging: Lodging): Promise<Result<HostProcess>> {
    if (lodging.host && lodging.host.opened >= GUESTS_PER_HOST_MAX && lodging.busy === 1) stop(lodging);
    if (lodging.host && !lodging.host.death) return { ok: true, value: lodging.host };
    lodging.guests.clear();
    while (hosts.size >= HOSTS_MAX && !closed) await makeRoom();
    if (closed) return fail("unavailable", "was not asked: the daemon is ending");
    // Another event may have started it while this one waited.
    if (lodging.host && !lodging.host.death) return { ok: true, value: lodging.host };
    const started = startHost(launcher, files, limits);
    if (!started.ok) return started;
    const host = started.value;
    lodging.host = host;
    hosts.add(host);
    void host.gone.then(() => {
      hosts.delete(host);
      announceRoom();
    });
    return started;
  }

  function announceRoom(): void {
    freed.resolve();
    freed = Promise.withResolvers();
  }

  function openGuest({ hook, log }: Firing, host: HostProcess, program: ScriptProgram, grant: Grant): GuestSession {
    return openGuestSession(host, {
      mode: "hook",
      name: hook.name,
      program,
      args: [],
      env: viewEnvironment(grant, env),
      limits: { memoryMib: limits.memoryMib, sliceMs: limits.sliceMs, stuckMs: limits.stuckMs },
      loadMs: limits.loadMs,
      loadWallMs: hook.header.timeoutMs,
      wordsMax: WORDS_MAX,
      readFile: (path) => readForGuest(grant, folder, path),
      log: (_to, text) => log(showable(text.replace(/\n$/, ""))),
      fault: (error) => log(`uncaught ${error.full}`),
      exit: () => host.kill(),
    });
  }

  /** An isolate is left out when as many are kept as can have work at one moment: one of them has none then. */
  function makeBed(lodging: Lodging, guest: string): void {
    lodging.guests.get(guest)?.session.close();
    lodging.guests.delete(guest);
    if (lodging.guests.size < EVENTS_AT_ONCE_MAX) return;
    const [name, oldest] = [...lodging.guests].find(([, { session }]) => !session.busy) ?? [];
    if (name !== undefined) lodging.guests.delete(name);
    oldest?.session.close();
  }

  function knownGuest(lodging: Lodging, guest: string, program: ScriptProgram): GuestSession | undefined {
    const opened = lodging.guests.get(guest);
    if (!opened?.session.usable || opened.programId !== program.id) return undefined;
    lodging.guests.delete(guest);
    lodging.guests.set(guest, opened);
    return opened.session;
  }

  async function guestOf(lodging: Lodging, firing: Firing, program: ScriptProgram): Promise<Result<GuestSession>> {
    const host = await hostOf(lodging);
    if (!host.ok) return host;
    await host.value.ready;
    if (host.value.death) return { ok: false, failure: host.value.death };
    const known = knownGuest(lodging, firing.guest, program);
    if (known) return { ok: true, value: known };
    const grant = await groundGrant(firing.hook.header.grant);
    // From here on nothing waits: of two first events of a session the second finds the first one's guest.
    const session = knownGuest(lodging, firing.guest, program) ?? openGuest(firing, host.value, program, grant);
    if (lodging.guests.get(firing.guest)?.session !== session) {
      makeBed(lodging, firing.guest);
      lodging.guests.set(firing.guest, { programId: program.id, session });
    }
    return { ok: true, value: session };
  }

  async function attempt(lodging: Lodging, firing: Firing): Promise<Result<JsonValue> | GuestFailed> {
    const { hook, event, signal } = firing;
    const program = await hook.program();
    if (!program.ok)
      return fail(program.failure.code, `is broken: ${program.failure.message}`, { cause: program.failure });
    const session = await guestOf(lodging, firing, program.value);
    if (!session.ok) return session;
    const loaded = await session.value.loaded;
    if (!loaded.ok) return loaded;
    return session.value.fire(event, hook.header.timeoutMs, signal);
  }

  async function occupied<T>(file: string, lodging: Lodging, work: () => Promise<T>): Promise<T> {
    clearTimeout(lodging.idle);
    lodging.busy += 1;
    try {
      return await work();
    } finally {
      lodging.busy -= 1;
      if (lodging.busy === 0 && !closed) {
        lodging.idle = setTimeout(() => {
          stop(lodging);
          lodgings.delete(file);
        }, limits.idleMs).unref();
        announceRoom();
      }
    }
  }

  return {
    async fire(firing) {
      const lodging = lodgingOf(firing.hook);
      const leave = await new Promise<() => void>((resolve) => lodging.slots.enter(resolve));
      try {
        return await occupied(firing.hook.file, lodging, async () => {
          const first = await attempt(lodging, firing);
          if (first.ok || !("retry" in first) || !first.retry || firing.signal.aborted) return first;
          // Another event may have been to blame, so once more, one after the other. Hooks change nothing outside.
          const again = lodging.alone.then(() => attempt(lodging, firing));
          lodging.alone = again.catch(() => {});
          return again;
        });
      } finally {
        leave();
      }
    },
    forget(hook, guest) {
      const lodging = lodgings.get(hook.file);
      lodging?.guests.get(guest)?.session.close();
      lodging?.guests.delete(guest);
    },
    async close() {
      closed = true;
      for (const lodging of lodgings.values()) stop(lodging);
      announceRoom();
      await Promise.all([...hosts].map((host) => host.gone));
    },
  };
}
