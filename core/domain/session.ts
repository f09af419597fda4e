import type { JsonObject } from "@bufbuild/protobuf";
import type { Failure } from "./failure.ts";
import { type Message, NO_USAGE, type ReplyBlock, type ResultBlock, type TokenUsage } from "./provider.ts";

/** One call of the reply that is being worked on. */
export type ToolCall = { readonly callId: string; readonly tool: string; readonly args: JsonObject } & (
  | { readonly status: "asked" }
  | { readonly status: "running"; readonly attempt: number }
  | { readonly status: "ended"; readonly result: ResultBlock }
);

export type Turn = {
  readonly id: string;
  /** "PROVIDER/NAME". */
  readonly model: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  readonly attended: boolean;
  /** Model calls that have ended. */
  readonly steps: number;
  /** How often a restarted daemon has taken the turn up. */
  readonly resumed: number;
  readonly interrupted: boolean;
};

export type EndedTurn = {
  readonly id: string;
  readonly outcome: "done" | "cancelled" | "failed";
  readonly failure?: Failure;
};

/** A question to a person about a call of the running turn. */
export type Approval = {
  readonly callId: string;
  readonly tool: string;
  readonly status: "open" | "allowed" | "refused" | "expired";
};

/** What a journal says, folded. Nothing in here is stored anywhere else. */
export type Session = {
  readonly id: string;
  /** The last event's number; 0 before the first. */
  readonly seq: number;
  readonly workspace: string;
  readonly title: string;
  /** What the session asked for; empty for the daemon's choice. */
  readonly model: string;
  /** Whole messages, user and assistant in turns. */
  readonly messages: readonly Message[];
  readonly turn: Turn | undefined;
  readonly lastTurn: EndedTurn | undefined;
  /** Whole blocks of a reply that is not whole. */
  readonly reply: readonly ReplyBlock[];
  /** Calls of the last reply whose results are not in `messages`, in the order of the reply. */
  readonly calls: ReadonlyMap<string, ToolCall>;
  /** Said while a step was under way; joins `messages` when the step is over. */
  readonly steering: readonly string[];
  /** True when something that was said during the turn has joined `messages` since the last reply. */
  readonly steered: boolean;
  /** Questions of the running turn, by id. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Tools that a person allowed for the rest of the session. */
  readonly allowedTools: readonly string[];
  readonly usage: TokenUsage;
};

export function emptySession(id: string): Session {
  return {
    id,
    seq: 0,
    workspace: "",
    title: "",
    model: "",
    messages: [],
    turn: undefined,
    lastTurn: undefined,
    reply: [],
    calls: new Map(),
    steering: [],
    steered: false,
    approvals: new Map(),
    allowedTools: [],
    usage: NO_USAGE,
  };
}
