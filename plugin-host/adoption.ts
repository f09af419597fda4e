import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../core/domain/failure.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import type { ToolNews } from "./link/plugin-link.ts";
import type { Adoption } from "./manifest/adopted-plugin.ts";
import type { ToolOffers } from "./offer/tool-offers.ts";
import type { Registry } from "./registry/registry.ts";
import { failureOf } from "./registry/start-hindrances.ts";
import type { Artifacts } from "./service/artifacts.ts";
import type { PluginRecords } from "./service/plugin-records.ts";
import type { Secrets } from "./service/secrets.ts";

/** What the daemon asks of a process in nobody's conversation. */
const COMMAND_LIMIT_MS = 90_000;
/** Whoever follows begins anew after that. */
const FOLLOW_LIMIT_MS = 24 * 60 * 60_000;

type Asked = { readonly command: string; readonly args: JsonObject; readonly limitMs: number };
type CommandNews = { readonly kind: "line" | "result"; readonly text: string };

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
  async function* hear(
    name: string,
    { command: tool, args, limitMs }: Asked,
    signal: AbortSignal,
  ): AsyncGenerator<Result<CommandNews>> {
    const plugin = find(name);
    if (plugin === undefined) {
      yield fail("unavailable", `plugin "${name}" may not run`, { hint: "claw plugin list" });
      return;
    }
    const held = await plugin.supervisor.acquire(signal);
    if (!held.ok) {
      yield held;
      return;
    }
    const { incarnation, release } = held.value;
    // Leaving the loop does not cancel the call at the process; only this does.
    const end = new AbortController();
    const over = AbortSignal.any([signal, end.signal]);
    const call = { callId: `host-${name}`, sessionId: "", workspace: "", tool, args, timeLimitMs: limitMs };
    try {
      yield* commandNews(incarnation.link.callTool(call, over), name);
    } finally {
      end.abort();
      release();
    }
  }
  return {
    adopt: registry.adopt,
    learn: registry.learn,
    learned: registry.learned,
    tools: (name) => find(name)?.declared() ?? [],
    heard(name) {
      const plugin = find(name);
      return plugin !== undefined && offers.isKnown(plugin.manifest);
    },
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
      const texts: string[] = [];
      for await (const heard of hear(name, { command, args, limitMs: COMMAND_LIMIT_MS }, signal)) {
        if (!heard.ok) return heard;
        if (heard.value.kind === "result") texts.push(heard.value.text);
      }
      return ok(texts.join("\n"));
    },
    async *follow(name, command, args, signal) {
      for await (const heard of hear(name, { command, args, limitMs: FOLLOW_LIMIT_MS }, signal)) {
        if (!heard.ok) yield heard;
        else if (heard.value.kind === "line") yield ok(heard.value.text);
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

/** What a process of the house's says to one command; what goes wrong on the way is a failure, and the last item. */
async function* commandNews(news: AsyncIterable<ToolNews>, plugin: string): AsyncGenerator<Result<CommandNews>> {
  try {
    for await (const one of news) {
      if (one.kind === "progress") yield ok({ kind: "line", text: one.text });
      if (one.kind !== "result") continue;
      const { failure, parts } = one.result;
      if (failure !== undefined)
        yield fail(failure.code, failure.message, failure.hint === "" ? {} : { hint: failure.hint });
      for (const part of failure === undefined ? parts : [])
        if (part.kind === "text") yield ok({ kind: "result", text: part.text });
      return;
    }
    yield fail("unavailable", `plugin "${plugin}" gave no answer`, { hint: `claw plugin logs ${plugin}` });
  } catch (cause) {
    yield fail("unavailable", `plugin "${plugin}" broke off`, { hint: `claw plugin logs ${plugin}`, cause });
  }
}
