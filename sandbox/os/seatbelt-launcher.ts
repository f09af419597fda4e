import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { proxySettings } from "../egress/proxy-variables.ts";
import type { ProxyOpener } from "./filtered-network.ts";
import { checkSpec } from "./launch-check.ts";
import type { Launcher, ProcessLimits } from "./launcher.ts";
import { LEASE_VARIABLE, type LeaseWatcher } from "./lease-watcher.ts";
import { spawnLeased } from "./leased-spawn.ts";
import { sendSignal } from "./process-tree.ts";
import { PROXY_PARAMETER, seatbeltProfile } from "./seatbelt-profile.ts";

export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
/** What others call the folder for temporary files; each child has one of its own in its place. */
const SHARED_SCRATCH = "/tmp";
/** Where the proxy listens comes with the lease, in the variables that name it. Arguments: the profile, the command. */
const WITH_PROXY = `exec ${SANDBOX_EXEC} -D "${PROXY_PARAMETER}=localhost:\${HTTP_PROXY##*:}" -p "$@"`;

/**
 * Launches children under macOS's own sandbox. It holds what a child may open and reach; it is no namespace: the child
 * sees which processes there are, and one that leaves its process group outlives its lease.
 * @param scratchDir where the children's own folders for temporary files are made
 * @param nextMark gives every launch a mark of its own
 */
export function createSeatbeltLauncher(
  detail: string,
  watcher: LeaseWatcher,
  proxies: ProxyOpener,
  scratchDir: string,
  nextMark: () => string,
): Launcher {
  return {
    level: "seatbelt",
    detail,
    landlock: { missing: "it is a part of Linux" },
    launch(spec) {
      const checked = checkSpec(spec);
      const mark = nextMark();
      const { network } = spec.confinement;
      const scratch = realpathSync.native(mkdtempSync(join(scratchDir, "clawd-")));
      const proxy = typeof network === "object" ? proxies.onLoopback(network) : undefined;
      const atEnd = () => {
        proxy?.close();
        rmSync(scratch, { recursive: true, force: true });
      };
      const sockets = checked.read.map(({ real }) => real).filter((path) => statSync(path).isSocket());
      const profile = seatbeltProfile({ ...checked, confinement: spec.confinement, scratch, sockets });
      const own = (path: string) => (path === SHARED_SCRATCH ? scratch : path);
      const env = Object.fromEntries(Object.entries(spec.env).map(([name, value]) => [name, own(value)]));
      const start = proxy ? ["/bin/sh", "-c", WITH_PROXY, "sh"] : [SANDBOX_EXEC, "-p"];
      return spawnLeased(watcher, undefined, {
        command: [...start, profile, ...checked.command],
        cwd: own(spec.cwd),
        env: { ...env, ...(proxy ? proxySettings(proxy.bypass) : {}), [LEASE_VARIABLE]: mark },
        limits: withoutCount(spec.limits),
        processesInside: false,
        groupLimits: { processes: 0 },
        pipes: spec.pipes,
        proxyUrl: proxy?.url,
        handOn: undefined,
        files: [],
        markAtEnd: mark,
        tell: sendSignal,
        atEnd,
      });
    },
  };
}

/** The system counts processes by user, the person's own among them. */
function withoutCount({ processes: _, ...limits }: ProcessLimits): ProcessLimits {
  return limits;
}
