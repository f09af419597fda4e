import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeltaSchema } from "../../../proto/gen/clawd/v1/session_pb.ts";
import type { ReadArtifact } from "../../domain/artifact.ts";
import type { ModelWords, WordsWanted } from "../../domain/desk.ts";
import type { Result } from "../../domain/failure.ts";
import type { Hooks } from "../../domain/hook.ts";
import type { PermissionDecision } from "../../domain/permission-decision.ts";
import type { TurnProfile } from "../../domain/profile.ts";
import type { ProviderCatalog } from "../../domain/provider.ts";
import type { SlashCommandSource } from "../../domain/slash-command.ts";
import type { OfferNews, ToolSource } from "../../domain/tool.ts";
import type { ToolFilter } from "../../domain/tool-filter.ts";
import type { TurnRecall } from "../../domain/turn-recall.ts";
import type { Gate } from "./gates.ts";
import type { SingleWriter } from "./single-writer.ts";

/** A piece of something unfinished, for whoever listens; never stored. */
export type Delta = MessageInitShape<typeof DeltaSchema>;

/** A model of the program that called, in the place of the house's. */
export type LentModel = (wanted: WordsWanted, signal: AbortSignal) => Promise<ModelWords>;

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
  /** Resolves when the tools of what was never asked for them are there, or after a bounded while; undefined when none may come. */
  readonly toolsLearned?: (signal: AbortSignal) => Promise<void>;
  readonly commands: SlashCommandSource;
  /** Undefined when they never change. */
  readonly offerNews?: OfferNews;
  /** Undefined when nobody keeps any. */
  readonly readArtifact?: ReadArtifact;
  readonly gates: readonly Gate[];
  readonly hooks: Hooks;
  /** Undefined when conversations are not to be told what memory holds. */
  readonly recall: TurnRecall | undefined;
  /** Undefined when nothing is learned of the person, and no model told. */
  readonly profile: TurnProfile | undefined;
  /** Undefined when the model is shown every tool. */
  readonly toolFilter: ToolFilter | undefined;
  readonly limits: TurnLimits;
  readonly now: () => number;
  /** Keeps a decision that is made while its session is not there yet. */
  readonly record: (decision: PermissionDecision) => Promise<Result<void>>;
  /** Hears of broken promises of our own code, which end a turn and nothing else. */
  readonly complain: (cause: unknown) => void;
  /** A secret is one that nobody guesses who sees others. */
  readonly newId: (kind: "turn" | "message" | "approval" | "session" | "call" | "secret") => string;
};

/** One session at work: a turn while it runs, or what hooks hear outside of one. */
export type TurnContext = TurnServices & {
  /** Empty outside a turn. */
  readonly turnId: string;
  readonly writer: SingleWriter;
  readonly tell: (delta: Delta) => void;
  /** How many connected people would hear a question about this call now, and could answer it. */
  readonly answerers: (callId: string) => number;
  /** The number of the next call that a hook makes in this session. */
  readonly nextHookCall: () => number;
  /**
   * Runs one at a time of what is asked for hooks: a person reads one question, then the next. Once the signal has aborted
   * it waits no longer, and what is asked has to see that itself.
   */
  readonly oneQuestion: <T>(ask: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Aborts when a person interrupts the turn or the daemon ends. */
  readonly signal: AbortSignal;
  /** Aborts when the daemon waits no longer; until then hooks hear also what was interrupted. */
  readonly lastSignal: AbortSignal;
  /** What the program lent to the call that this is for. */
  readonly lentModel?: LentModel;
};
