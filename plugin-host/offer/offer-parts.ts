import type { Result } from "../../core/domain/failure.ts";
import type { CallQueue } from "../life/call-queue.ts";
import type { Supervisor } from "../life/supervisor.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import type { ArtifactFacts } from "../service/artifacts.ts";
import type { LiveCalls } from "../service/live-calls.ts";

/** What everything that one plugin offers is made with. */
export type OfferParts = {
  readonly manifest: PluginManifest;
  readonly supervisor: Supervisor;
  /** The places for calls of its tools. */
  readonly queue: CallQueue;
  /** What it works on is open here, so that it may ask its host for things meanwhile. */
  readonly calls: LiveCalls;
  /** What one of its artifacts is. */
  readonly artifact: (artifactId: string) => Promise<Result<ArtifactFacts>>;
  readonly log: LogRing;
  readonly now: () => number;
};
