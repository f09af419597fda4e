import type { GenerationGrant } from "../../core/domain/generation-grant.ts";
import type { Recall } from "../../core/domain/memory.ts";
import type { TokenBucket } from "../../core/domain/token-bucket.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { Artifacts } from "./artifacts.ts";
import { openDecisions } from "./decisions.ts";
import { serveHost } from "./host-service.ts";
import type { LiveCalls } from "./live-calls.ts";
import type { TakeOffer } from "./offer-method.ts";
import type { PluginRecords } from "./plugin-records.ts";
import type { Secrets } from "./secrets.ts";

export type ServiceParts = {
  readonly plugin: string;
  /** SHA-256 over the plugin's files, lower-case hex. */
  readonly filesSha256: string;
  readonly granted: Grant;
  readonly log: LogRing;
  readonly calls: LiveCalls;
  readonly storeBudget: TokenBucket;
  readonly records: PluginRecords;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  readonly recall: Recall;
  readonly offer: TakeOffer | undefined;
  /** Undefined when its owner gave it no budget for models. */
  readonly generation: GenerationGrant | undefined;
  /** True for a plugin of another machine that nobody gave more: see `shutMethods`. */
  readonly isShut?: boolean;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

/** What the host does for one process of a plugin, and what it writes down about it. */
export type ProcessServices = {
  /** Listens on a socket of this process alone, for whoever shows the token. Rejects when it cannot. */
  serve(socketPath: string, token: string): Promise<{ close(): void }>;
  /** A connection that its proxy denied. */
  onDenied(denied: {
    readonly host: string;
    readonly port: number;
    readonly message: string;
    readonly hint: string;
  }): void;
};

export function processServices(parts: ServiceParts): ProcessServices {
  const decisions = openDecisions({ ...parts, record: parts.records.decided });
  return {
    async serve(socketPath, token) {
      const served = await serveHost(socketPath, { ...parts, token, decisions });
      return {
        close() {
          served.close();
          decisions.close();
        },
      };
    },
    onDenied({ host, port, message, hint }) {
      parts.log.add("host", `${message}; ${hint}`);
      decisions.denied({ kind: "net", host, port }, message);
    },
  };
}
