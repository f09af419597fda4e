import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Launcher } from "../os/launcher.ts";
import type { HostFiles, HostShape } from "./host-launch.ts";
import { type HostProcess, startHost } from "./host-process.ts";
import type { HostWatch } from "./host-watch.ts";
import type { IsolateLimits } from "./limits.ts";

/** Who lives in a process: a trust group. */
export type Tenant = {
  /** It has answered lately without having had to be killed. Others must not crowd it out. */
  readonly proven: boolean;
  /** Since when it has no work, on the engine's clock; undefined while it has. */
  readonly idleSinceMs: number | undefined;
  /** Leaves its process, which has no work, to somebody else. */
  evict(): void;
};

/** The processes of trust groups, so many at a time, and one spare that is up before anybody needs it. */
export type ProcessPool = {
  /** A process that no one else is in. Waits for room when there is none. */
  take(tenant: Tenant, signal: AbortSignal): Promise<Result<HostProcess>>;
  /** A tenant has become idle, or a process has died: there may be room. */
  changed(): void;
  /** Kills all, and waits until they are gone. */
  close(): Promise<void>;
};

export type PoolOptions = {
  readonly launcher: Launcher;
  readonly files: HostFiles;
  readonly limits: IsolateLimits;
  readonly watch: HostWatch;
  readonly now: () => number;
};

/** Isolates that a host keeps booted. */
const KEPT_ISOLATES = 2;
/** From the use of the spare process to the start of the next, milliseconds: whoever took it has the machine until then. */
const SPARE_AFTER_MS = 250;
/** A newcomer takes the process only of a group that was idle for so long, milliseconds. */
const SETTLED_MS = 1000;
/** How often those who wait look whether somebody has been idle for long enough, milliseconds. */
const LOOK_MS = 250;

type Waiter = { readonly tenant: Tenant; start(host: Result<HostProcess>): void };

/** Starts nothing before the first `take`. */
export function processPool({ launcher, files, limits, watch, now }: PoolOptions): ProcessPool {
  const shape: HostShape = { jit: false, memoryMib: limits.memoryMib, kept: KEPT_ISOLATES };
  const living = new Map<HostProcess, Tenant>();
  /** All that are not gone, the spare one and the dying included. */
  const processes = new Set<HostProcess>();
  const waiters: Waiter[] = [];
  let spare: HostProcess | undefined;
  let spareTimer: NodeJS.Timeout | undefined;
  let restTimer: NodeJS.Timeout | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
  let closed = false;

  function start(): Result<HostProcess> {
    const started = startHost(launcher, files, shape, limits.startMs);
    if (!started.ok) return started;
    const host = started.value;
    processes.add(host);
    watch.add(host);
    void host.gone.then(() => {
      processes.delete(host);
      if (spare === host) spare = undefined;
      changed();
    });
    return started;
  }

  function keepSpare(): void {
    clearTimeout(restTimer);
    restTimer = setTimeout(() => {
      spare?.kill();
      spare = undefined;
    }, limits.idleMs).unref();
    if (spare || spareTimer) return;
    spareTimer = setTimeout(() => {
      spareTimer = undefined;
      const started = closed ? undefined : start();
      if (started?.ok) spare = started.value;
    }, SPARE_AFTER_MS).unref();
  }

  function provide(tenant: Tenant): Result<HostProcess> {
    const ready = spare && !spare.death ? ok(spare) : start();
    spare = undefined;
    if (ready.ok) living.set(ready.value, tenant);
    keepSpare();
    return ready;
  }

  function tenants(): Tenant[] {
    for (const host of living.keys()) if (host.death) living.delete(host);
    return [...living.values()];
  }

  /** Whose process may be given to this tenant: of those without work the one that has had none for longest. */
  function victimFor(tenant: Tenant, all: readonly Tenant[]): Tenant | undefined {
    const onlyNewcomer = all.every((other) => other.proven);
    let victim: Tenant | undefined;
    for (const other of all) {
      const { idleSinceMs } = other;
      if (idleSinceMs === undefined) continue;
      // Newcomers are let in one by one: a crowd of them must not drive out who works every moment.
      if (!tenant.proven && !onlyNewcomer && other.proven && now() - idleSinceMs < SETTLED_MS) continue;
      if (idleSinceMs < (victim?.idleSinceMs ?? Number.POSITIVE_INFINITY)) victim = other;
    }
    return victim;
  }

  /** True when the tenant was let in, which may have failed. */
  function admit({ tenant, start: begin }: Waiter): boolean {
    const all = tenants();
    const newcomers = all.filter((other) => !other.proven).length;
    // One place is kept for those who have shown that they do no harm.
    const room = all.length < limits.hostsMax && (tenant.proven || newcomers < Math.max(limits.hostsMax - 1, 1));
    const victim = room ? undefined : victimFor(tenant, all);
    if (!room && !victim) return false;
    victim?.evict();
    begin(provide(tenant));
    return true;
  }

  function changed(): void {
    clearTimeout(lookTimer);
    for (const proven of [true, false]) {
      for (const waiter of waiters.filter((other) => other.tenant.proven === proven)) {
        if (!admit(waiter)) break;
        waiters.splice(waiters.indexOf(waiter), 1);
      }
    }
    if (waiters.length > 0) lookTimer = setTimeout(changed, LOOK_MS);
  }

  return {
    async take(tenant, signal) {
      if (closed) return fail("unavailable", "was not asked: the daemon is ending");
      const { promise, resolve } = Promise.withResolvers<Result<HostProcess>>();
      const waiter: Waiter = { tenant, start: resolve };
      const give = (why: Result<HostProcess>) => {
        const at = waiters.indexOf(waiter);
        if (at >= 0) waiters.splice(at, 1);
        resolve(why);
      };
      const stop = () => give(fail("cancelled", "was interrupted"));
      const late = () =>
        give(
          fail("exhausted", `was not asked: no process was free for ${limits.queueMs} ms, ${limits.hostsMax} may live`),
        );
      signal.addEventListener("abort", stop, { once: true });
      const timer = setTimeout(late, limits.queueMs);
      waiters.push(waiter);
      changed();
      const host = await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      return host;
    },
    changed,
    async close() {
      closed = true;
      for (const timer of [spareTimer, restTimer, lookTimer]) clearTimeout(timer);
      for (const waiter of waiters.splice(0)) waiter.start(fail("unavailable", "was not asked: the daemon is ending"));
      const ending = [...processes];
      for (const host of ending) host.kill();
      await Promise.all(ending.map((host) => host.gone));
    },
  };
}
