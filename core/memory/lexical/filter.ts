import type { MemoryFilter } from "../../domain/memory.ts";
import type { IndexGroup } from "./index-document.ts";
import { pathMatcher } from "./path-match.ts";
import type { Segment } from "./segment.ts";

/** What may be answered at all. */
export type SegmentFilter = MemoryFilter & {
  /** Of notes: those that the viewer sees; what has no scope is seen by everybody. */
  readonly scopes: readonly string[] | "all";
  /** Groups that expired by then are gone. */
  readonly nowMs: number;
  /** A second filter; both must hold. */
  readonly and?: MemoryFilter | undefined;
};

/**
 * Which rows may be answered: 1 in the mask, a byte a row. Undefined when all may. Groups are judged once, then rows by
 * their time.
 *
 * @param dead a byte a row, other than 0 for a row that is gone.
 */
export function maskSegment(
  segment: Segment,
  filter: SegmentFilter,
  dead: Uint8Array | undefined,
): Uint8Array | undefined {
  const judges = [...groupJudges(filter), ...(filter.and === undefined ? [] : groupJudges(filter.and))];
  const { scopes, nowMs } = filter;
  if (segment.traits.scoped && scopes !== "all") judges.push(({ scope }) => scope === "" || scopes.includes(scope));
  if (segment.traits.expiring) judges.push(({ expiresAtMs }) => expiresAtMs === 0 || expiresAtMs > nowMs);
  const afterMs = Math.max(filter.afterMs ?? -Infinity, filter.and?.afterMs ?? -Infinity);
  const beforeMs = Math.min(filter.beforeMs ?? Infinity, filter.and?.beforeMs ?? Infinity);
  const timed = afterMs !== -Infinity || beforeMs !== Infinity;
  if (judges.length === 0 && !timed && dead === undefined) return undefined;
  const mask = new Uint8Array(segment.documents);
  if (judges.length === 0) mask.fill(1);
  else markGroups(segment, judges, mask);
  if (timed) clearTimes(segment, afterMs, beforeMs, mask);
  if (dead !== undefined) for (let row = 0; row < mask.length; row += 1) if (dead[row] !== 0) mask[row] = 0;
  return mask;
}

type Judge = (group: IndexGroup) => boolean;

function groupJudges({ kinds, path, sessionId, label, authors }: MemoryFilter): Judge[] {
  const judges: Judge[] = [];
  if (kinds !== undefined) judges.push(({ kind }) => kinds.includes(kind));
  if (authors !== undefined) judges.push(({ author }) => authors.includes(author));
  if (sessionId !== undefined) judges.push((group) => group.sessionId === sessionId);
  if (label !== undefined) judges.push(({ labels }) => labels.includes(label));
  if (path !== undefined) {
    const matches = pathMatcher(path);
    judges.push(({ kind, key }) => kind !== "note" && kind !== "conversation" && matches(key));
  }
  return judges;
}

function markGroups(segment: Segment, judges: readonly Judge[], mask: Uint8Array): void {
  const passing = Uint8Array.from(segment.groups(), (group) => (judges.every((judge) => judge(group)) ? 1 : 0));
  for (let row = 0; row < mask.length; row += 1) mask[row] = passing[segment.rowGroups[row] ?? 0] ?? 0;
}

function clearTimes({ atMs }: Segment, afterMs: number, beforeMs: number, mask: Uint8Array): void {
  for (let row = 0; row < mask.length; row += 1) {
    const at = atMs[row] ?? 0;
    if (at < afterMs || at >= beforeMs) mask[row] = 0;
  }
}
