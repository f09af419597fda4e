import { cpus, freemem, hostname, loadavg, networkInterfaces, release, totalmem, uptime } from "node:os";
import type { SysView } from "../../sandbox/guest/guest-protocol.ts";

/** What scripts with a `sys` permission are told of the machine, by the permission's name. Sizes are bytes, times seconds. */
export function machineFacts(): SysView {
  const free = freemem();
  return {
    hostname: hostname(),
    osRelease: release(),
    osUptime: Math.floor(uptime()),
    loadavg: loadavg(),
    cpus: cpus().length,
    systemMemoryInfo: {
      ...{ total: totalmem(), free, available: free },
      ...{ buffers: 0, cached: 0, swapTotal: 0, swapFree: 0 },
    },
    ...(process.getuid ? { uid: process.getuid() } : {}),
    ...(process.getgid ? { gid: process.getgid() } : {}),
  };
}

/** The addresses of this machine's own interfaces, now. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}
