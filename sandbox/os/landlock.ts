import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** What the kernel says of Landlock, a sandbox that programs put themselves into. `unknown`: it does not say. */
export type Landlock = "on" | "off" | "unknown";

const SECURITY_MODULES = "/sys/kernel/security/lsm";
const KERNEL_CONFIG = "/proc/config.gz";

/** What is on is known from the list of modules; where that is not shown, from how the kernel was built. */
export async function findLandlock(): Promise<Landlock> {
  const modules = await readFile(SECURITY_MODULES, "utf8").catch(() => undefined);
  if (modules !== undefined) return readModules(modules);
  const packed = await readFile(KERNEL_CONFIG).catch(() => undefined);
  const config = packed && (await promisify(gunzip)(packed).catch(() => undefined));
  return config ? readConfig(config.toString("latin1")) : "unknown";
}

/** "lockdown,capability,landlock,yama" */
export function readModules(text: string): Landlock {
  return text.trim().split(",").includes("landlock") ? "on" : "off";
}

/** The kernel's build settings, one to a line. */
export function readConfig(text: string): Landlock {
  const list = /^CONFIG_LSM="(.*)"$/m.exec(text)?.[1] ?? "";
  return /^CONFIG_SECURITY_LANDLOCK=y$/m.test(text) ? readModules(list) : "off";
}
