import type { Hooks } from "../domain/hook.ts";
import type { ProviderCatalog } from "../domain/provider.ts";
import type { ToolSource } from "../domain/tool.ts";
import type { Gate } from "./gates.ts";
import type { Delta } from "./news.ts";
import type { SingleWriter } from "./single-writer.ts";

/** Limits of a turn; every one can be set in config.toml under [limits]. */
export type TurnLimits = {
  /** Model calls of a turn that a connected client waits for. */
  readonly attendedSteps: number;
  /** Model calls of any other turn. */
  readonly unattendedSteps: number;
  /** How long a question waits for a person, milliseconds. */
  readonly approvalMs: number;
  /** What the model gets to read of one tool result, UTF-16 code units. */
  readonly outputChars: number;
};

export const DEFAULT_LIMITS: TurnLimits = {
  attendedSteps: 250,
  unattendedSteps: 10,
  approvalMs: 5 * 60_000,
  outputChars: 100_000,
};

/** What a turn needs of the house. */
export type TurnServices = {
  readonly providers: ProviderCatalog;
  readonly tools: ToolSource;
  readonly gates: readonly Gate[];
  readonly hooks: Hooks;
  readonly limits: TurnLimits;
  readonly now: () => number;
  /** Hears of broken promises of our own code, which end a turn and nothing else. */
  readonly complain: (cause: unknown) => void;
  readonly newId: (kind: "turn" | "message" | "approval" | "session") => string;
};

/** One turn of one session while it runs. */
export type TurnContext = TurnServices & {
  readonly turnId: string;
  readonly writer: SingleWriter;
  readonly tell: (delta: Delta) => void;
  /** How many connected people could answer a question now. */
  readonly answerers: () => number;
  /** Aborts when a person interrupts the turn or the daemon ends. */
  readonly signal: AbortSignal;
};
