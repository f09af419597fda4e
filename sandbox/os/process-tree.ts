import { readFileSync } from "node:fs";

/** Direct children of a process, oldest first; none when it is gone or the kernel does not tell. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Sends a signal to a process, or with a negative id to its group. False when there is nobody to get it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Kills a process, its direct children and its process group. It is stopped first, so that it cannot fork between the
 * listing of its children and its death; killing bubblewrap's one child takes the whole PID namespace along.
 */
export function killTree(pid: number): void {
  sendSignal(pid, "SIGSTOP");
  for (const child of childrenOf(pid)) sendSignal(child, "SIGKILL");
  sendSignal(-pid, "SIGKILL");
}
