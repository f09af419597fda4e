import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import { unlessAborted } from "../../core/domain/unless-aborted.ts";
import type { Capabilities } from "../broker/capabilities.ts";
import type { Fired, Firing } from "./engine.ts";
import { type EndTurn, eventQueue } from "./event-queue.ts";
import { type GuestSession, type Heard, openGuestSession } from "./guest-session.ts";
import type { HostProcess } from "./host-process.ts";
import type { HostWatch } from "./host-watch.ts";
import type { IsolateLimits } from "./limits.ts";
import type { ProcessPool, Tenant } from "./process-pool.ts";

/** The guests of one trust group, all in one process of their own. */
export type TrustGroup = {
  /** Whether it has no process and no work: then it may be forgotten. */
  readonly empty: boolean;
  fire(firing: Firing): Promise<Fired>;
  forget(guest: string): void;
  /** Leaves its process. */
  stop(): void;
};

export type GroupOptions = {
  readonly pool: ProcessPool;
  readonly watch: HostWatch;
  readonly limits: IsolateLimits;
  readonly now: () => number;
  /** It has lost its process and has no work. */
  onEmpty(): void;
};

/** Texts a hook may send during one event. */
const WORDS_MAX = 2000;

type Opened = {
  readonly programId: string;
  readonly capabilities: Capabilities;
  readonly session: GuestSession;
};

/** One try of an event. `hadEffect`: it may have changed something outside. */
type Tried = { readonly heard: Heard; readonly hadEffect: boolean };

const NEVER_TRIED = { killed: false, again: "no" } as const;

function refused(code: FailureCode, message: string, hint?: string): Extract<Heard, { ok: false }> {
  return { ...fail(code, message, hint === undefined ? {} : { hint }), ...NEVER_TRIED };
}

function fired(heard: Heard): Fired {
  return heard.ok ? heard : { ok: false, failure: heard.failure, killed: heard.killed };
}

export function trustGroup({ pool, watch, limits, now, onEmpty }: GroupOptions): TrustGroup {
  /** In the order of last use. */
  const guests = new Map<string, Opened>();
  let host: HostProcess | undefined;
  let hosting: Promise<Result<HostProcess>> | undefined;
  let proven = false;
  let idleSinceMs: number | undefined = now();
  let idleTimer: NodeJS.Timeout | undefined;

  const queue = eventQueue(limits.eventsAtOnceMax, limits.eventsWaitingMax, limits.queueMs, () => {
    if (queue.busy > 0) return;
    idleSinceMs = now();
    idleTimer = setTimeout(stop, limits.idleMs).unref();
    if (host?.death) leave();
    pool.changed();
  });

  function leave(): void {
    guests.clear();
    host = undefined;
    if (queue.busy === 0) onEmpty();
  }

  function stop(): void {
    clearTimeout(idleTimer);
    host?.kill();
    leave();
  }

  const tenant: Tenant = {
    get proven() {
      return proven;
    },
    get idleSinceMs() {
      return host && queue.busy === 0 ? idleSinceMs : undefined;
    },
    evict: stop,
  };

  /** Not while another event is under way in it. */
  function replaceWornOut(): void {
    if (!host || host.death) return;
    if (host.opened < limits.guestsPerLifeMax && watch.rssMib(host) < limits.rssRecycleMib) return;
    if (queue.busy <= 1) host.kill();
  }

  async function takeHost(signal: AbortSignal): Promise<Result<HostProcess>> {
    guests.clear();
    const taken = await pool.take(tenant, signal);
    if (!taken.ok) return taken;
    const started = taken.value;
    host = started;
    await started.ready;
    return started.death ? { ok: false, failure: started.death } : taken;
  }

  /** One process, whoever asks for it first. */
  async function hostFor(signal: AbortSignal): Promise<Result<HostProcess>> {
    replaceWornOut();
    for (;;) {
      if (host && !host.death && !hosting) return ok(host);
      const mine = !hosting;
      hosting ??= takeHost(signal).finally(() => {
        hosting = undefined;
      });
      const taken = await unlessAborted(hosting, signal, () => fail("cancelled", "was interrupted"));
      // Whoever waited along with an interrupted one tries for itself.
      if (taken.ok || mine || taken.failure.code !== "cancelled" || signal.aborted) return taken;
    }
  }

  function dropGuest(name: string): void {
    const opened = guests.get(name);
    guests.delete(name);
    opened?.session.close();
  }

  /** The one that was not used for longest makes room, when it has no event. */
  function makeBed(): void {
    if (guests.size < limits.guestsMax) return;
    for (const name of guests.keys()) {
      if (queue.isBusy(name)) continue;
      dropGuest(name);
      return;
    }
  }

  async function openGuest(firing: Firing): Promise<Result<Opened>> {
    const { plan, context, signal } = firing;
    const capabilities = plan.capabilities();
    capabilities.attend(context);
    const [found, views] = await Promise.all([hostFor(signal), capabilities.open()]);
    if (!found.ok || !views) {
      capabilities.close();
      return found.ok ? fail("unavailable", "was not asked: what it gets to know could not be recorded") : found;
    }
    makeBed();
    const { memoryMib, sliceMs, activeMs, stuckMs, loadMs, queueMs } = limits;
    const session = openGuestSession(found.value, {
      ...{ mode: "hook", plan, capabilities, views, signal, now },
      limits: { memoryMib, sliceMs, activeMs, stuckMs, mayStand: false },
      ...{ loadMs, queueMs, loadLimitMs: firing.timeoutMs, wordsMax: WORDS_MAX },
      // The prelude has no such thing for hooks; one that says it anyway is out of its mind.
      exit: () => session.close(),
      killed(failure) {
        proven = false;
        plan.killed(failure);
      },
    });
    const opened = { programId: plan.program.id, capabilities, session };
    guests.set(firing.guest, opened);
    return ok(opened);
  }

  function knownGuest({ guest, plan, context }: Firing): Opened | undefined {
    const opened = guests.get(guest);
    if (!opened) return undefined;
    guests.delete(guest);
    if (!opened.session.usable || opened.programId !== plan.program.id || host?.death) {
      opened.session.close();
      return undefined;
    }
    guests.set(guest, opened);
    opened.capabilities.attend(context);
    return opened;
  }

  async function attempt(firing: Firing): Promise<Tried> {
    const known = knownGuest(firing);
    let opened = known;
    if (!opened) {
      const result = await openGuest(firing);
      if (!result.ok) return { heard: { ...NEVER_TRIED, ...result }, hadEffect: false };
      opened = result.value;
    }
    const heard = await opened.session.ask(firing.event, firing.timeoutMs, firing.signal);
    const { hadEffect } = opened.capabilities;
    opened.capabilities.attend(undefined);
    return { heard, hadEffect };
  }

  async function inTurn<T>(firing: Firing, alone: boolean, work: () => Promise<T>): Promise<T | Heard> {
    const turn = await queue.enter(firing.guest, alone, firing.signal);
    if (turn === "full")
      return refused("exhausted", `was not asked: ${limits.eventsWaitingMax} events wait for its process already`);
    if (turn === "late")
      return refused("exhausted", `was not asked: its turn did not come within ${limits.queueMs} ms`);
    if (turn === "aborted") return refused("cancelled", "was interrupted");
    return occupied(turn, work);
  }

  async function occupied<T>(endTurn: EndTurn, work: () => Promise<T>): Promise<T> {
    clearTimeout(idleTimer);
    try {
      return await work();
    } finally {
      endTurn();
    }
  }

  return {
    get empty() {
      return host === undefined && queue.busy === 0;
    },
    async fire(firing) {
      watch.stir();
      const tried = await inTurn(firing, false, () => attempt(firing));
      if ("ok" in tried) return fired(tried);
      let { heard } = tried;
      if (!heard.ok && heard.again !== "no" && tried.hadEffect) {
        const message = "lost its process, and is not asked again because it may have changed something already";
        heard = refused("unavailable", message);
      } else if (!heard.ok && heard.again !== "no") {
        const second = await inTurn(firing, heard.again === "alone", () => attempt(firing));
        heard = "ok" in second ? second : second.heard;
      }
      if (heard.ok) proven = true;
      else if (heard.killed) proven = false;
      return fired(heard);
    },
    forget(guest) {
      if (!queue.isBusy(guest)) dropGuest(guest);
    },
    stop,
  };
}
