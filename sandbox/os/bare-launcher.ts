import { proxySettings } from "../egress/proxy-variables.ts";
import type { ProxyOpener } from "./filtered-network.ts";
import { checkSpec } from "./launch-check.ts";
import type { Launcher } from "./launcher.ts";
import { LEASE_VARIABLE, type LeaseWatcher } from "./lease-watcher.ts";
import { spawnLeased } from "./leased-spawn.ts";
import { DEFAULT_PROCESSES, type ProcessGroups } from "./process-groups.ts";
import { sendSignal } from "./process-tree.ts";

/**
 * Launches children with their lease and limits, but with nothing that confines them. The tree is their process group
 * and whoever carries the mark in its environment: a child that leaves the group and wipes its environment escapes, unless
 * it is in a control group, which only a child that sets out to can leave. A
 * filtered network is advice: the child learns of its proxy, and may go past it.
 * `sh` drops variables whose names are not identifiers.
 * @param nextMark gives every launch a mark of its own
 */
export function createBareLauncher(
  detail: string,
  watcher: LeaseWatcher,
  groups: ProcessGroups | undefined,
  proxies: ProxyOpener,
  nextMark: () => string,
): Launcher {
  return {
    level: "none",
    detail,
    landlock: { missing: "there is no sandbox behind which it could stand" },
    launch(spec) {
      const checked = checkSpec(spec);
      const mark = nextMark();
      const { network } = spec.confinement;
      const proxy = typeof network === "object" ? proxies.onLoopback(network) : undefined;
      return spawnLeased(watcher, groups, {
        command: checked.command,
        cwd: spec.cwd,
        env: { ...spec.env, ...(proxy ? proxySettings(proxy.bypass) : {}), [LEASE_VARIABLE]: mark },
        limits: spec.limits,
        processesInside: false,
        groupLimits: { ...spec.limits, processes: spec.limits.processes ?? DEFAULT_PROCESSES },
        pipes: spec.pipes,
        proxyUrl: proxy?.url,
        handOn: undefined,
        files: [],
        markAtEnd: mark,
        tell: sendSignal,
        atEnd: () => proxy?.close(),
      });
    },
  };
}
