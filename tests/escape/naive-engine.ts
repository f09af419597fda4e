import vm from "node:vm";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Engine } from "../../sandbox/isolate/engine.ts";

type Handler = (event: unknown, clawd: unknown) => unknown;

/**
 * What people build first: every hook in one context of node:vm inside of this very process, with its objects handed over
 * as they are. Nothing holds in it, which is what it is for: whoever watches the real engine must see it here.
 */
export function naiveEngine(): Engine {
  const context = vm.createContext({});
  return {
    async fire({ plan, event }) {
      try {
        const load = vm.runInContext(plan.program.source, context) as (
          take: (exported: Record<string, unknown>) => void,
        ) => Promise<void>;
        let handler: Handler = () => null;
        await load((exported) => {
          handler = exported.default as Handler;
        });
        const store = { set: async () => {}, get: async () => null };
        return { ok: true, value: ((await handler(event, { store })) ?? null) as JsonValue };
      } catch (cause) {
        const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
        return { ok: false, failure: { code: "invalid", message, cause }, killed: false };
      }
    },
    forget() {},
    run() {
      throw new Error("it has no scripts");
    },
    async close() {},
  };
}
