import type { ListPluginsResponse } from "../proto/gen/clawd/v1/admin_pb.ts";
import { sendSignal } from "../sandbox/os/process-tree.ts";
import { sayOnce } from "./soak-conversations.ts";
import type { SoakDaemon } from "./soak-daemon.ts";
import { ENTRY_WORD, toolName } from "./soak-plugins.ts";
import { commandOf, treeBelow } from "./soak-watch.ts";

/** What is done to a plugin, in turn. */
const FAULTS = ["kill", "stop", "flood_log", "flood_call", "flood_news", "flood_host"] as const;
export type Fault = (typeof FAULTS)[number];
export type Faults = Record<Fault, number>;
type Row = ListPluginsResponse["plugins"][number];

/** Does one thing to the next plugin in turn that has a process, and none to one that has none. */
export function openFaults(daemon: SoakDaemon, workspace: string, names: readonly string[]) {
  const done: Faults = { kill: 0, stop: 0, flood_log: 0, flood_call: 0, flood_news: 0, flood_host: 0 };
  const floods = new Set<Promise<unknown>>();
  let turn = 0;
  let kinds = 0;

  function nextRunning(plugins: readonly Row[]): { readonly index: number; readonly pid: number } | undefined {
    for (let tried = 0; tried < names.length; tried += 1) {
      const index = turn % names.length;
      turn += 1;
      const pid = plugins.find(({ name }) => name === names[index])?.pid ?? 0;
      if (pid > 0) return { index, pid };
    }
    return undefined;
  }

  return {
    done,
    strike(plugins: readonly Row[]): void {
      const victim = nextRunning(plugins);
      if (victim === undefined) return;
      // Each plugin meets every kind: their number does not divide that of the plugins evenly in every round.
      const fault = FAULTS[(kinds + Math.floor(kinds / names.length)) % FAULTS.length] ?? "kill";
      kinds += 1;
      if (fault === "kill" || fault === "stop") {
        const own = ownProcess(victim.pid);
        if (own === undefined || !sendSignal(own, fault === "kill" ? "SIGKILL" : "SIGSTOP")) return;
      } else {
        const flood = sayOnce(daemon, workspace, `call ${toolName(victim.index, fault)} {}`).catch(() => {});
        floods.add(flood);
        void flood.finally(() => floods.delete(flood));
      }
      done[fault] += 1;
    },
    /** Resolves when the last flood is over. */
    settle: () => Promise.all(floods),
  };
}

/** The plugin's program itself, inside its walls. */
function ownProcess(pid: number): number | undefined {
  return [pid, ...treeBelow(pid)].findLast((one) => {
    const words = commandOf(one);
    return words.some((word) => ENTRY_WORD.test(word)) && !words[0]?.endsWith("bwrap");
  });
}
