import type { HookAdmin, HookRow } from "../domain/admin.ts";
import { type Failed, fail } from "../domain/failure.ts";
import { mergeInOrder } from "../domain/hook-chain.ts";

const PLUGIN_HOOK = /^plugin:(.*)$/;

/**
 * What people may do with hooks, those of plugins among them: these are listed in their places, and come, go and are
 * switched with their plugins only.
 */
export function withPluginHooks(scripts: HookAdmin, plugins: { hookRows(): readonly HookRow[] }): HookAdmin {
  return {
    ...scripts,
    async list() {
      const rows = [(await scripts.list()).map(placed), plugins.hookRows().map(placed)];
      const run = (runs: boolean) =>
        mergeInOrder(rows.map((some) => some.filter(({ row }) => (row.failure === undefined) === runs)));
      return [...run(true), ...run(false)].map(({ row }) => row);
    },
    remove: async (name) => ofPlugin(name, "goes with it", "remove") ?? scripts.remove(name),
    enable: async (name, enabled) =>
      ofPlugin(name, "is switched with it", enabled ? "enable" : "disable") ?? scripts.enable(name, enabled),
    test: async (name, point, value) =>
      ofPlugin(name, "is not tried alone; what it wrote stands in the plugin's log", "logs") ??
      scripts.test(name, point, value),
  };
}

function placed(row: HookRow): { readonly name: string; readonly priority: number; readonly row: HookRow } {
  return { name: row.name ?? "", priority: row.priority ?? 0, row };
}

function ofPlugin(name: string, fate: string, command: string): Failed | undefined {
  const plugin = PLUGIN_HOOK.exec(name)?.[1];
  if (plugin === undefined) return undefined;
  return fail("invalid", `"${name}" is a hook of a plugin and ${fate}`, {
    hint: `claw plugin ${command} ${plugin}`,
  });
}
