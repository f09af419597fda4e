import { fail, ok, type Result } from "../core/domain/failure.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { ToolNews } from "./link/plugin-link.ts";
import type { Adoption } from "./manifest/adopted-plugin.ts";
import type { ToolOffers } from "./offer/tool-offers.ts";
import { failureOf } from "./plugin-rows.ts";
import type { Registry } from "./registry.ts";
import type { Artifacts } from "./service/artifacts.ts";
import type { PluginRecords } from "./service/plugin-records.ts";
import type { Secrets } from "./service/secrets.ts";

/** What the daemon asks of a process in nobody's conversation. */
const COMMAND_LIMIT_MS = 90_000;

export type AdoptionParts = {
  readonly registry: Registry;
  readonly offers: ToolOffers;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly records: PluginRecords;
  readonly launcher: Launcher;
};

export function createAdoption({ registry, offers, artifacts, secrets, records, launcher }: AdoptionParts): Adoption {
  const find = (name: string) => {
    const live = registry.find(name)?.live;
    return live?.ok && live.value.adopted !== undefined ? live.value : undefined;
  };
  return {
    adopt: registry.adopt,
    learn: registry.learn,
    learned: registry.learned,
    tools: (name) => find(name)?.declared() ?? [],
    failure(name) {
      const live = registry.find(name)?.live;
      if (live === undefined) return undefined;
      return live.ok ? failureOf(live.value, launcher) : live.failure;
    },
    async settle(name) {
      const plugin = find(name);
      if (plugin === undefined) return { ok: true, value: undefined };
      const settled = await offers.settle(plugin.manifest);
      registry.forgetTools();
      return settled;
    },
    async command(name, command, args, signal) {
      const plugin = find(name);
      if (plugin === undefined)
        return fail("unavailable", `plugin "${name}" may not run`, { hint: "claw plugin list" });
      const held = await plugin.supervisor.acquire(signal);
      if (!held.ok) return held;
      const { incarnation, release } = held.value;
      const call = { callId: `host-${name}`, sessionId: "", workspace: "", tool: command, args };
      try {
        return await commandResult(incarnation.link.callTool({ ...call, timeLimitMs: COMMAND_LIMIT_MS }, signal), name);
      } finally {
        release();
      }
    },
    secret: (name, key) => secrets.get(name, key),
    async forgetSecrets(name) {
      const cleared = await secrets.clear(name);
      await registry.refresh(name, "it was logged out");
      return cleared;
    },
    async forget(name) {
      await offers.forget(name);
      const cleared = await Promise.all([records.clear(name), artifacts.clear(name), secrets.clear(name)]);
      return cleared.find((one) => !one.ok) ?? cleared[0];
    },
  };
}

/** The text that a process of the house's answers with; what goes wrong on the way is a failure. */
async function commandResult(news: AsyncIterable<ToolNews>, plugin: string): Promise<Result<string>> {
  try {
    for await (const one of news) {
      if (one.kind !== "result") continue;
      const { failure, parts } = one.result;
      if (failure === undefined)
        return ok(parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n"));
      return fail(failure.code, failure.message, failure.hint === "" ? {} : { hint: failure.hint });
    }
    return fail("unavailable", `plugin "${plugin}" gave no answer`, { hint: `claw plugin logs ${plugin}` });
  } catch (cause) {
    return fail("unavailable", `plugin "${plugin}" broke off`, { hint: `claw plugin logs ${plugin}`, cause });
  }
}
