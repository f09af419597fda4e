import type { HookAnswer, HookContext, HookEvent, HookPoint, Hooks } from "../../core/domain/hook.ts";

export type ScriptedHook = (event: HookEvent, context: HookContext) => HookAnswer | Promise<HookAnswer>;

/** Hooks that say what a test wrote down, each point's as one hook named "guard", and keep the events they heard. */
export function scriptedHooks(
  hooks: Partial<Record<HookPoint, ScriptedHook>>,
): Hooks & { readonly events: HookEvent[]; readonly points: () => readonly HookPoint[] } {
  const events: HookEvent[] = [];
  return {
    events,
    forget() {},
    points: () => events.map(({ at }) => at),
    hears: async (point) => hooks[point] !== undefined,
    async run(event, context) {
      events.push(event);
      const answer = (await hooks[event.at]?.(event, context)) ?? { do: "pass" };
      const because = "because" in answer ? answer.because : "";
      return { answer, receipts: [{ hook: "guard", verdict: answer.do, because, ms: 1, ran: true }] };
    },
  };
}
