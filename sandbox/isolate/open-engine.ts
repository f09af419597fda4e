import { fail } from "../../core/domain/failure.ts";
import type { Launcher } from "../os/launcher.ts";
import type { Engine } from "./engine.ts";
import type { HostFiles } from "./host-launch.ts";
import type { HostProcess } from "./host-process.ts";
import { hostWatch } from "./host-watch.ts";
import type { IsolateLimits } from "./limits.ts";
import { processPool } from "./process-pool.ts";
import { runScript } from "./script-run.ts";
import { type TrustGroup, trustGroup } from "./trust-group.ts";

export type EngineOptions = {
  readonly launcher: Launcher;
  readonly files: HostFiles;
  readonly limits: IsolateLimits;
  /** Milliseconds that never go back. */
  readonly now: () => number;
};

/** Opens an engine; nothing is started before the first event or script. */
export function openEngine({ launcher, files, limits, now }: EngineOptions): Engine {
  const watch = hostWatch(limits);
  const pool = processPool({ launcher, files, limits, watch, now });
  const groups = new Map<string, TrustGroup>();
  const scripts = new Set<HostProcess>();
  let closed = false;

  function groupOf(name: string): TrustGroup {
    const known = groups.get(name);
    if (known) return known;
    const group = trustGroup({
      ...{ pool, watch, limits, now },
      onEmpty: () => {
        if (groups.get(name) === group) groups.delete(name);
      },
    });
    groups.set(name, group);
    return group;
  }

  return {
    async fire(firing) {
      if (closed) return { ...fail("unavailable", "was not asked: the daemon is ending"), killed: false };
      return groupOf(firing.group).fire(firing);
    },
    forget(group, guest) {
      groups.get(group)?.forget(guest);
    },
    run(order) {
      if (closed) {
        const ended = Promise.resolve({ ...fail("unavailable", "was not run: the daemon is ending"), killed: false });
        return { ended, signal: () => {}, pause: () => {}, kill: async () => {} };
      }
      return runScript(order, { launcher, files, limits, watch, now }, (host) => {
        scripts.add(host);
        void host.gone.then(() => scripts.delete(host));
      });
    },
    async close() {
      closed = true;
      for (const group of groups.values()) group.stop();
      const running = [...scripts];
      for (const host of running) host.kill();
      await Promise.all([pool.close(), ...running.map((host) => host.gone)]);
      watch.end();
    },
  };
}
