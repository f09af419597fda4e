import type { Result } from "../../core/domain/failure.ts";
import type { Recall } from "../../core/domain/memory.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { GrantStore } from "../install/grant-store.ts";
import type { Clock } from "../life/clock.ts";
import type { RestartBudget } from "../life/restart-budget.ts";
import type { BreakerLimits } from "../life/restart-policy.ts";
import type { ReadSettings } from "../manifest/settings.ts";
import type { Reserved } from "../manifest/wants.ts";
import type { ToolOffers } from "../offer/tool-offers.ts";
import type { RemoteDoor } from "../remote/remote-door.ts";
import type { Artifacts } from "../service/artifacts.ts";
import type { PluginRecords } from "../service/plugin-records.ts";
import type { Secrets } from "../service/secrets.ts";
import type { LivePlugin } from "./live-plugin.ts";
import type { SettingsInForce } from "./reconfigure.ts";

export type RegistryParts = {
  readonly pluginsDir: string;
  readonly runtimeDir: string;
  readonly grants: GrantStore;
  readonly reserved: Reserved;
  readonly launcher: Launcher;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeBinary: string;
  readonly hostVersion: string;
  readonly hostMajors: readonly number[];
  readonly settings: ReadSettings;
  readonly recall: Recall;
  readonly records: PluginRecords;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly breaker: BreakerLimits;
  readonly offers: ToolOffers;
  /** The plugins of other machines. */
  readonly remote: RemoteDoor;
};

/** What all plugins of a host share. */
export type LifeParts = RegistryParts & {
  readonly clock: Clock;
  readonly budget: RestartBudget;
  readonly inForce: SettingsInForce;
  readonly find: (name: string) => { readonly live: Result<LivePlugin> } | undefined;
  /** Hears that a plugin offers other tools now. */
  readonly onOffer: (name: string) => void;
};
