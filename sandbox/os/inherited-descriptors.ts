import { closeSync, readdirSync, readFileSync } from "node:fs";

const FIRST_AFTER_STDIO = 3;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes what this process inherited from its starter beside stdin, stdout and stderr. Node marks everything that it
 * opens itself as close-on-exec; what is not marked would go on to every child, and an open folder or socket of a
 * stranger's shell is a hole in any sandbox. For the very beginning of a process, when nothing of its own is open.
 */
export function closeInheritedDescriptors(): void {
  for (const descriptor of listDescriptors()) {
    if (descriptor < FIRST_AFTER_STDIO || !isInheritable(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // closed meanwhile by whoever owned it
    }
  }
}

function listDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return []; // no /proc: no Linux, hence no sandbox to keep tight
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
