import { fail } from "../../core/domain/failure.ts";
import type { Launcher } from "../os/launcher.ts";
import type { Fired, ScriptOrder, ScriptRun } from "./engine.ts";
import { type GuestSession, type Heard, openGuestSession } from "./guest-session.ts";
import type { HostFiles } from "./host-launch.ts";
import { type HostProcess, startHost } from "./host-process.ts";
import type { HostWatch } from "./host-watch.ts";
import type { IsolateLimits } from "./limits.ts";

export type ScriptOptions = {
  readonly launcher: Launcher;
  readonly files: HostFiles;
  readonly limits: IsolateLimits;
  readonly watch: HostWatch;
  readonly now: () => number;
};

/** Resident memory of a script's process beside twice the heap of its isolate, MiB. */
const OWN_RSS_MIB = 300;
const NEVER: AbortSignal = new AbortController().signal;

function fired(heard: Heard): Fired {
  return heard.ok ? heard : { ok: false, failure: heard.failure, killed: heard.killed };
}

async function runIn(
  host: HostProcess,
  order: ScriptOrder,
  { limits, now }: ScriptOptions,
  onSession: (session: GuestSession) => void,
): Promise<Fired> {
  const { plan, timeLimitMs, memoryMib } = order;
  const capabilities = plan.capabilities();
  capabilities.attend(order.context);
  const [up, views] = await Promise.all([host.ready, capabilities.open()]);
  if (!up || !views) {
    capabilities.close();
    const failure =
      host.death ?? fail("unavailable", "was not run: what it gets to know could not be recorded").failure;
    return { ok: false, failure, killed: false };
  }
  // It harms nobody but itself by working without a pause: its wall time is its only limit of time.
  const session = openGuestSession(host, {
    ...{ mode: "script", plan, capabilities, views, now, signal: NEVER },
    limits: { memoryMib, sliceMs: timeLimitMs, activeMs: timeLimitMs, stuckMs: limits.stuckMs, mayStand: true },
    ...{ loadMs: timeLimitMs, loadLimitMs: timeLimitMs, queueMs: timeLimitMs, wordsMax: 0 },
    exit: order.exit,
    killed: plan.killed,
  });
  onSession(session);
  return fired(await session.loaded);
}

/** Starts a process for one script and runs it there. Never throws; what goes wrong is told by `ended`. */
export function runScript(order: ScriptOrder, options: ScriptOptions, onHost: (host: HostProcess) => void): ScriptRun {
  const { launcher, files, limits, watch } = options;
  const shape = { jit: order.jit, memoryMib: order.memoryMib, kept: 0 };
  const started = startHost(launcher, files, shape, limits.startMs);
  if (!started.ok) {
    const ended = Promise.resolve<Fired>({ ...started, killed: false });
    return { ended, signal: () => {}, pause: () => {}, kill: async () => {} };
  }
  const host = started.value;
  onHost(host);
  watch.add(host, Math.max(limits.rssKillMib, OWN_RSS_MIB + 2 * order.memoryMib));
  let session: GuestSession | undefined;
  const onSession = (opened: GuestSession) => {
    session = opened;
  };
  const ended = runIn(host, order, options, onSession).finally(() => host.kill());
  return {
    ended,
    signal: (name) => session?.signal(name),
    pause: (paused) => host.pause(paused),
    async kill() {
      host.kill();
      await host.gone;
    },
  };
}
