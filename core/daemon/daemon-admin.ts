import { tryToEscape } from "../../sandbox/os/escape-trial.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { DaemonAdmin, HookRow } from "../domain/admin.ts";
import type { Failure } from "../domain/failure.ts";
import type { Home } from "./home.ts";
import { diagnose, staleVariables } from "./status.ts";
import type { Surroundings } from "./surroundings.ts";

/** What is asked of the other rooms; each is asked anew at every look. */
export type DaemonParts = {
  readonly home: Home;
  readonly around: Surroundings;
  readonly startedAtMs: number;
  readonly launcher: Launcher;
  /** The name of whoever answers where nobody was asked for. */
  readonly provider: string;
  /** Empty while nobody listens there. */
  readonly tcpAddress: () => string;
  /** What is wrong with what people wrote down, but for plugins. */
  readonly problems: () => readonly Failure[];
  readonly pluginProblems: () => readonly Failure[];
  readonly hooks: () => Promise<readonly HookRow[]>;
};

/** What people ask of the daemon itself. */
export function daemonAdmin(parts: DaemonParts): DaemonAdmin {
  const { home, around, startedAtMs, launcher, provider, problems, pluginProblems } = parts;
  const statusWith = (found: readonly Failure[]) => ({
    pid: around.pid,
    version: around.version,
    nodeVersion: around.nodeVersion,
    home: home.dir,
    socket: home.socket,
    tcpAddress: parts.tcpAddress(),
    provider,
    sandbox: { level: launcher.level, detail: launcher.detail },
    startedAtMs,
    problems: found,
  });
  return {
    status: async () => statusWith([...problems(), ...pluginProblems()]),
    async doctor() {
      const status = statusWith(problems());
      const [hooks, trials] = await Promise.all([parts.hooks(), tryToEscape(launcher, around.nodeBinary, around.pid)]);
      return diagnose({ status, hooks, pluginProblems: pluginProblems(), trials, landlock: launcher.landlock });
    },
    shutdown: around.shutdown,
    staleVariables: (digests) => staleVariables(around.env, digests),
  };
}
