import type { EventBody } from "../../core/domain/event.ts";

export type GenerationEvent = Extract<EventBody, { case: "pluginGenerated" }>["value"];

/** What one plugin used of a day. */
type Day = {
  /** By UTC, e.g. "2026-11-22". */
  readonly day: string;
  used: number;
  /** What answers that are under way may take, by their ids; one that a stop of the daemon cut off stays. */
  readonly open: Map<string, number>;
};

/** What plugins used of their budgets, by their names: only the last day of each. */
export type GenerationBudgets = Map<string, Day>;

/** The day that a moment counts to: by UTC, and never one before the last, so that a clock that is put back gives nothing anew. */
export function dayOf(budgets: GenerationBudgets, plugin: string, nowMs: number): string {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const last = budgets.get(plugin)?.day ?? "";
  return last > today ? last : today;
}

/** What of a day is used or may yet be. */
export function usedTokens(budgets: GenerationBudgets, plugin: string, day: string): number {
  const known = budgets.get(plugin);
  if (known?.day !== day) return 0;
  return known.used + [...known.open.values()].reduce((sum, tokens) => sum + tokens, 0);
}

/** Counts an event. What ends on a later day than it began counts to the day on which it began, which is over. */
export function countGeneration(budgets: GenerationBudgets, event: GenerationEvent): void {
  const { plugin = "", generationId = "", day = "", tokens = 0, ended = false } = event;
  let known = budgets.get(plugin);
  if (known === undefined || known.day < day) {
    known = { day, used: 0, open: new Map() };
    budgets.set(plugin, known);
  }
  if (known.day !== day) return;
  if (!ended) {
    known.open.set(generationId, tokens);
    return;
  }
  known.open.delete(generationId);
  known.used += tokens;
}
