import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { HookRow, PluginAdmin } from "../core/domain/admin.ts";
import type { ReadArtifact } from "../core/domain/artifact.ts";
import type { DocumentSources } from "../core/domain/document-source.ts";
import type { Embedder } from "../core/domain/embedder.ts";
import type { Failure } from "../core/domain/failure.ts";
import type { HookSource } from "../core/domain/hook.ts";
import type { Recall } from "../core/domain/memory.ts";
import type { ProviderSource } from "../core/domain/provider.ts";
import type { SlashCommandSource } from "../core/domain/slash-command.ts";
import type { OfferNews, ToolSource } from "../core/domain/tool.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { createAdoption } from "./adoption.ts";
import { takeFarOffer } from "./far-offers.ts";
import { hookRows } from "./hook-rows.ts";
import { openGrantStore } from "./install/grant-store.ts";
import { recoverInstalls } from "./install/install.ts";
import { BREAKER_LIMITS, type BreakerLimits } from "./life/restart-policy.ts";
import type { Adoption } from "./manifest/adopted-plugin.ts";
import { HOST_MAJORS } from "./manifest/manifest.ts";
import type { ReadSettings } from "./manifest/settings.ts";
import { openOfferStore } from "./offer/offer-store.ts";
import { pluginHookSource } from "./offer/plugin-hooks.ts";
import { openToolOffers } from "./offer/tool-offers.ts";
import { createPluginAdmin } from "./plugin-admin.ts";
import { createRegistry } from "./registry/registry.ts";
import { failureOf } from "./registry/start-hindrances.ts";
import { openRemoteDoor } from "./remote/remote-door.ts";
import type { RemoteSettings } from "./remote/remote-plugins.ts";
import { openArtifacts } from "./service/artifacts.ts";
import type { PluginRecords } from "./service/plugin-records.ts";
import { openSecrets } from "./service/secrets.ts";

export type PluginHostOptions = {
  /**
   * Installed plugins, one folder each; absolute, like all paths here. The folder above it is clawd's data folder, which
   * no plugin may write, nor see because it was granted something above that.
   */
  readonly pluginsDir: string;
  /** What people granted; out of every plugin's reach. */
  readonly grantsDir: string;
  /** For sockets; made with mode 0700. Its path should be short: at most 84 bytes. */
  readonly runtimeDir: string;
  readonly launcher: Launcher;
  /** The daemon's own variables, of which a plugin gets those that it was granted by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The Node that plugins with the command "node" run on. */
  readonly nodeBinary: string;
  readonly hostVersion: string;
  /** Majors of clawd.plugin that plugins are offered; all that this host speaks unless told otherwise. */
  readonly hostMajors?: readonly number[];
  /** What "clawd/plugin" means in a plugin that is bundled at install. */
  readonly sdkFile: string;
  /** What a person set for a plugin, read afresh at each start of it. */
  readonly settings: ReadSettings;
  /** How many crashes within which time make a plugin rest; five within five minutes unless told otherwise. */
  readonly breaker?: BreakerLimits;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Unpredictable bytes: tokens, names of folders, jitter. */
  readonly random: (bytes: number) => Uint8Array;
  readonly recall: Recall;
  /** What is kept of plugins for good. */
  readonly records: PluginRecords;
  /** What they wrote that is too large for a message; out of every plugin's reach. Made when something is written. */
  readonly artifactsDir: string;
  /** What plugins offered when they ran last; out of every plugin's reach. Made when something is written. */
  readonly offersDir: string;
  /** Plugins of other machines: where their keys and offers are kept, out of every plugin's reach, and how they come. */
  readonly remote?: RemoteSettings & { readonly dir: string; readonly log: (line: string) => void };
};

export type PluginHost = {
  readonly tools: ToolSource;
  readonly hooks: HookSource;
  /** The same hooks as people see them, in the order of running. */
  hookRows(): readonly HookRow[];
  readonly models: ProviderSource;
  readonly commands: SlashCommandSource;
  /** Tells when the tools or the commands may be others. */
  readonly offerNews: OfferNews;
  readonly sources: DocumentSources;
  readonly readArtifact: ReadArtifact;
  embedders(): readonly { readonly plugin: string; readonly embedder: Embedder }[];
  readonly admin: PluginAdmin;
  /** Plugins that the owner wrote down in a file. */
  readonly adopted: Adoption;
  /** What is wrong with plugins that are turned on. */
  problems(): readonly Failure[];
  /** Stops every plugin, all at once; at most ten seconds. */
  close(): Promise<void>;
};

/** A port that stays closed, for a host that was not told otherwise. */
const NO_REMOTES = { listen: "", address: "", certificateMs: 30 * 24 * 60 * 60_000, log: () => {} };

/** Opens the home of plugins. Starts none, and reads none before somebody asks. */
export async function openPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const { pluginsDir, grantsDir, runtimeDir, launcher, sdkFile, now } = options;
  for (const dir of [pluginsDir, grantsDir, runtimeDir]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await chmod(dir, 0o700);
  }
  await recoverInstalls(pluginsDir);
  const reserved = [dirname(pluginsDir), grantsDir, runtimeDir];
  const grants = openGrantStore(grantsDir);
  const artifacts = openArtifacts(options.artifactsDir, options.random);
  const secrets = openSecrets(join(dirname(pluginsDir), "secrets"));
  const offers = openToolOffers(openOfferStore(options.offersDir));
  const remote = openRemoteDoor({
    ...(options.remote ?? { ...NO_REMOTES, dir: join(dirname(pluginsDir), "remote") }),
    ...{ now, random: options.random },
    onOffer: (name, folder) => takeFarOffer({ grants, admin, pluginsDir }, name, folder),
  });
  const registry = createRegistry({
    breaker: BREAKER_LIMITS,
    hostMajors: HOST_MAJORS,
    ...options,
    grants,
    reserved,
    artifacts,
    secrets,
    offers,
    remote,
  });
  const admin = createPluginAdmin({
    registry,
    grants,
    artifacts,
    secrets,
    offers,
    remote,
    records: options.records,
    place: { pluginsDir, sdkFile, reserved },
    launcher,
    now,
  });
  remote.begin();
  return {
    tools: registry.tools,
    hooks: pluginHookSource(registry.hooks),
    hookRows: () => hookRows({ registry, launcher }),
    models: () => registry.enabled().flatMap(({ offers }) => offers.models),
    commands: () => registry.enabled().flatMap(({ offers }) => offers.commands()),
    offerNews: registry.offerNews,
    sources: () => registry.enabled().flatMap(({ offers }) => offers.sources),
    readArtifact: ({ plugin, artifactId }, offsetBytes) => artifacts.read(plugin, artifactId, offsetBytes, 0),
    embedders: () =>
      registry
        .enabled()
        .flatMap(({ manifest, offers }) => offers.embedders.map((embedder) => ({ plugin: manifest.name, embedder }))),
    admin,
    adopted: createAdoption({ registry, offers, artifacts, secrets, records: options.records, launcher }),
    problems: () => [
      ...[remote.problem()].filter((problem) => problem !== undefined),
      ...registry.all().flatMap(({ live }) => {
        const failure = live.ok ? failureOf(live.value, launcher) : live.failure;
        return failure === undefined ? [] : [failure];
      }),
    ],
    close: async () => {
      await registry.close();
      await remote.close();
    },
  };
}
