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
  /** The program whose calls the turn is made of, in its own words; empty for a model's turn. */
  readonly caller: string;
  /** Model calls that have ended. */
  readonly steps: number;
  /** How often a restarted daemon has taken the turn up. */
  readonly resumed: number;
  readonly interrupted: boolean;
  /** The words of its last reply; empty while there is none. */
  readonly said: string;
  /** What hooks of `context.build` put beside the words of this turn; part of `messages`. */
  readonly context: string;
  /** True once they were heard, whatever they said: a turn that is taken up again does not ask them twice. */
  readonly contextHeard: boolean;
  /** True once what memory holds was put beside the words of this turn; part of `messages`. */
  readonly recalled: boolean;
  /** What hooks of `model.before` made of one model call. */
  readonly built: Built | undefined;
  /** What the model is not shown; undefined while nothing was chosen. */
  readonly hidden: HiddenTools | undefined;
};

/** Tools that the model is not shown for the rest of a turn, by name, and the model call from which on. */
export type HiddenTools = { readonly step: number; readonly tools: readonly string[] };

/** What hooks made of one model call, in the place of the turn's own. */
export type Built = { readonly step: number; readonly context: string; readonly system: string | undefined };

export type EndedTurn = {
  readonly id: string;
  readonly outcome: "done" | "cancelled" | "failed";
  readonly failure?: Failure;
};

/**
 * A question to a person: about a call; or, when `permission` is not empty, about what a script may touch; or, when `tool` is
 * empty, too, one in the words of its `principal`.
 */
export type Approval = {
  readonly callId: string;
  readonly tool: string;
  readonly permission: string;
  readonly principal: string;
  /** Which definition of the tool was seen; empty for a tool that is always the same. */
  readonly edition: string;
  readonly status: "open" | "allowed" | "refused" | "expired";
  /** How far the answer reaches. */
  readonly scope: "once" | "session" | "always";
  /** The flat JSON Schema of what is asked for beside the yes; none for yes or no alone. */
  readonly requestedSchema?: JsonObject;
  /** What was filled in. */
  readonly content?: JsonObject;
};

/** A call that a program makes in a turn of its own; no model hears of it. */
export type ProgramCall = {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly status: "asked" | "running";
};

/** A call that a hook or a plugin makes; the model knows nothing of it. */
export type HookCall = { readonly callId: string; readonly tool: string; readonly turnId: string };

/** What the ids of their calls begin with; no call of a model's has such an id. */
const STRANGER_CALL = /^(?:hook|plugin):/;

/** True for an id that only the call of a hook or a plugin may have. */
export function isStrangersCallId(callId: string): boolean {
  return STRANGER_CALL.test(callId);
}

/** The id of the call with this number that a hook or a plugin makes; `principal` is "hook:NAME" or "plugin:NAME". */
export function hookCallId(principal: string, number: number): string {
  return `${principal}:${number}`;
}

/** "hook:NAME" or "plugin:NAME" for the id of a call of theirs, and its number in the session; undefined for any other. */
export function readHookCallId(callId: string): { readonly principal: string; readonly number: number } | undefined {
  const at = callId.lastIndexOf(":");
  if (!isStrangersCallId(callId) || at <= callId.indexOf(":")) return undefined;
  return { principal: callId.slice(0, at), number: Number(callId.slice(at + 1)) || 0 };
}

/** The key of a remembered answer: who may touch or call what. */
export function answerKey(principal: string, subject: string): string {
  return `${principal} ${subject}`;
}

/** A tool in one of its definitions; `edition` is empty or missing for one that is always the same. */
export function definitionKey(tool: string, edition = ""): string {
  return edition === "" ? tool : `${tool} ${edition}`;
}

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
  /** Open calls of the program whose turn runs, by id. */
  readonly programCalls: ReadonlyMap<string, ProgramCall>;
  /** Calls of hooks that run, by id. */
  readonly hookCalls: ReadonlyMap<string, HookCall>;
  /** The highest number that a hook's call had so far. */
  readonly lastHookCall: number;
  /** Questions of the running turn, and open ones from outside a turn, by id. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Tools that a person allowed for the rest of the session, each as `definitionKey` writes it. */
  readonly allowedTools: readonly string[];
  /** What a person said about hooks for the rest of the session, by `answerKey`: true for yes. */
  readonly hookAnswers: ReadonlyMap<string, boolean>;
  readonly usage: TokenUsage;
  /** What the model reads of the person's profile, as JSON; empty for nothing. */
  readonly profile: string;
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
    programCalls: new Map(),
    hookCalls: new Map(),
    lastHookCall: 0,
    approvals: new Map(),
    allowedTools: [],
    hookAnswers: new Map(),
    usage: NO_USAGE,
    profile: "",
  };
}
