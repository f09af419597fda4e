import { join } from "node:path";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { Tool } from "../../core/domain/tool.ts";
import { createCallQueue } from "../life/call-queue.ts";
import { jitterFrom } from "../life/jitter.ts";
import { createSupervisor, type Supervisor } from "../life/supervisor.ts";
import type { Generation } from "../life/tenure.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { PluginTool } from "../manifest/tools.ts";
import { ownWritePaths } from "../manifest/wants.ts";
import { makePluginTool } from "../offer/call-tool.ts";
import type { OfferParts } from "../offer/offer-parts.ts";
import { makePluginListeners, type PluginListener } from "../offer/plugin-hooks.ts";
import { makeOffers, type Offers } from "../offer/plugin-offers.ts";
import { isFar } from "../remote/far-command.ts";
import { type LiveCalls, liveCalls } from "../service/live-calls.ts";
import { storeBudget } from "../service/value-methods.ts";
import { type Candidate, type Judged, judgePlugin } from "./judge-plugin.ts";
import type { LifeParts } from "./life-parts.ts";
import { missingDependency } from "./start-hindrances.ts";
import { type Startable, startPlugin } from "./start-plugin.ts";

/** Calls that may wait for a place at one plugin. */
const MAX_WAITING_CALLS = 64;
/** What has no limit of its own in the manifest, a model's answer say, may last this long when its process is replaced. */
const LEAST_DRAIN_MS = 30_000;

/** A plugin whose manifest holds and whose grant fits it. */
export type LivePlugin = Omit<Judged, "wanted"> & {
  readonly generation: Generation;
  readonly supervisor: Supervisor;
  readonly calls: LiveCalls;
  /** At this moment; the same list until something changes. */
  readonly tools: () => readonly Tool[];
  /** The same as they were declared or offered. */
  readonly declared: () => readonly PluginTool[];
  readonly hooks: readonly PluginListener[];
  readonly offers: Offers;
};

/** What stays of a plugin when another version or another grant takes its place: a call may be on its way to it. */
export type Seat = Pick<LivePlugin, "supervisor" | "calls">;

/**
 * Judges what was found and makes it usable; starts nothing. `seat` is that of the version or grant before, whose processes
 * then stay until its supervisor is told of the new generation.
 */
export function bringToLife(
  parts: LifeParts,
  candidate: Candidate,
  log: LogRing,
  seat: Seat | undefined,
): Result<LivePlugin> {
  const judged = judgePlugin(parts, candidate);
  if (!judged.ok) return judged;
  const { name, folder } = candidate;
  const { manifest, grant, granted, adopted } = judged.value;
  const calls = seat?.calls ?? liveCalls();
  const startable = { ...judged.value, name, folder, log, calls, storeBudget: storeBudget(parts.now) };
  const generation = generationOf(parts, startable);
  const supervisor = seat?.supervisor ?? openSupervisor(parts, startable, generation);
  const queue = createCallQueue(name, manifest.limits.concurrentCalls, MAX_WAITING_CALLS);
  const artifact = (artifactId: string) => parts.artifacts.describe(name, artifactId);
  const offerParts: OfferParts = { manifest, supervisor, queue, calls, artifact, log, now: parts.now };
  const declared = () => parts.offers.tools(manifest);
  const hooks = makePluginListeners(offerParts);
  const tools = makeTools(offerParts, declared);
  const offers = makeOffers(offerParts, () => parts.offers.commands(manifest));
  return ok({ manifest, grant, granted, generation, supervisor, calls, tools, declared, adopted, hooks, offers });
}

/** Made once a list, so that a schema is compiled once. */
function makeTools(parts: OfferParts, declared: () => readonly PluginTool[]): () => readonly Tool[] {
  let of: readonly PluginTool[] = [];
  let made: readonly Tool[] = [];
  return () => {
    const now = declared();
    if (now !== of) made = now.map((tool) => makePluginTool(parts, tool));
    of = now;
    return made;
  };
}

function openSupervisor(parts: LifeParts, { name, log, calls }: Startable, generation: Generation): Supervisor {
  return createSupervisor({
    name,
    generation,
    log,
    clock: parts.clock,
    jitter: jitterFrom(parts.random),
    budget: parts.budget,
    breaker: parts.breaker,
    onDeath: (death) => {
      void parts.records.died({ plugin: name, ...death, callIds: [...calls.ids()] }).then((written) => {
        if (!written.ok) log.add("host", `its death could not be recorded: ${written.failure.message}`);
      });
    },
  });
}

function generationOf(parts: LifeParts, plugin: Startable): Generation {
  const { manifest, granted, folder } = plugin;
  const { version, idleStopMs, singleton, tools, hooks } = manifest;
  return {
    version,
    idleStopMs,
    singleton,
    longestUseMs: Math.max(LEAST_DRAIN_MS, ...[...tools, ...hooks].map(({ timeoutMs }) => timeoutMs)),
    disk: {
      // What lies on another machine is watched there.
      folders: isFar(manifest) ? [] : ownWritePaths(granted, folder).map((path) => join(folder, path)),
      limitMib: manifest.limits.diskMib,
    },
    start: (signal) => startPlugin(parts, plugin, signal),
    blocked: () =>
      plugin.adopted?.missing ??
      missingDependency(manifest, parts.find) ??
      (isFar(manifest) ? parts.remote.missing(manifest.name) : undefined),
  };
}
