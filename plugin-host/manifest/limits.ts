import { ok, type Result } from "../../core/domain/failure.ts";
import type { Limits } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { Reject } from "./rejection.ts";

export type PluginLimits = {
  readonly memoryMib: number;
  /** Processes and threads. */
  readonly processes: number;
  readonly concurrentCalls: number;
  /** Of one processor; 0 means no limit of its own. */
  readonly cpuPercent: number;
  /** Data in the folders that it may write. */
  readonly diskMib: number;
};

type Range = { readonly least: number; readonly most: number; readonly otherwise: number };

const RANGES: Readonly<Record<keyof PluginLimits, Range>> = {
  // Below this a Node process cannot even start.
  memoryMib: { least: 128, most: 64 * 1024, otherwise: 512 },
  processes: { least: 16, most: 4096, otherwise: 256 },
  concurrentCalls: { least: 1, most: 64, otherwise: 4 },
  cpuPercent: { least: 0, most: 100 * 256, otherwise: 0 },
  diskMib: { least: 1, most: 1024 * 1024, otherwise: 1024 },
};
const FIELDS = Object.keys(RANGES) as readonly (keyof PluginLimits)[];

export function judgeLimits(limits: Limits | undefined, reject: Reject): Result<PluginLimits> {
  const judged = { memoryMib: 0, processes: 0, concurrentCalls: 0, cpuPercent: 0, diskMib: 0 };
  for (const field of FIELDS) {
    const { least, most, otherwise } = RANGES[field];
    const value = limits?.[field] || otherwise;
    if (value < least || value > most)
      return reject(`limits.${field}`, `must be from ${least} to ${most}, not ${value}`);
    judged[field] = value;
  }
  return ok(judged);
}
