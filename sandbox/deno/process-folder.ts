import { readFileSync, readlinkSync } from "node:fs";
import { isAbsolute } from "node:path";
import { childrenOf } from "../os/process-tree.ts";

const HAS_PROC = process.platform === "linux";
/** Processes of one tree that are looked at. */
const PROCESSES_MAX = 1024;

/**
 * The working folder of a process of a tree, now; undefined when there is no such process. Deno asks with paths as they
 * were written, and a program may have gone elsewhere since it began.
 * @param head of the tree, as this process knows it
 * @param pid as it knows itself, in its own namespace
 * @param start where the tree began: what counts on systems that do not tell
 */
export function workingFolder(head: number, pid: number, start: string): string | undefined {
  if (!HAS_PROC) return start;
  const waiting = [head];
  for (let looked = 0; looked < PROCESSES_MAX; looked += 1) {
    const next = waiting.shift();
    if (next === undefined) return undefined;
    if (ownPid(next) === pid) {
      const folder = readFolder(next);
      if (folder !== undefined) return folder;
    }
    waiting.push(...childrenOf(next));
  }
  return undefined;
}

/** The last number is the one in the innermost namespace. */
function ownPid(pid: number): number | undefined {
  try {
    const ids = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return ids === undefined ? undefined : Number(ids.split(/\s+/).at(-1));
  } catch {
    return undefined;
  }
}

function readFolder(pid: number): string | undefined {
  try {
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    return isAbsolute(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
