import type { JsonObject } from "@bufbuild/protobuf";
import type { Permission } from "../../sandbox/permission/permission.ts";
import type { Artifact } from "./artifact.ts";
import type { Desk } from "./desk.ts";
import type { Failure } from "./failure.ts";

/** What kind of thing a tool does: the default of the policy hangs on it. */
export type ToolCategory =
  | "file_read"
  | "file_write"
  | "shell"
  | "network"
  | "memory_read"
  | "memory_write"
  | "plugin"
  | "mcp";

/** A JSON Schema of type object. */
export type JsonSchema = JsonObject;

export type ToolContext = {
  readonly sessionId: string;
  readonly callId: string;
  /** Absolute path of the session's folder. */
  readonly workspace: string;
  /** Aborts on interrupt and on timeout; a tool must end soon after. */
  readonly signal: AbortSignal;
  /** Shows a line to whoever watches. Never stored. */
  readonly progress: (line: string) => void;
  /** For tools of strangers. Over when the call is. */
  readonly desk: Desk;
};

/** What the model gets to read, and, when it went wrong, what went wrong. What it gave as bytes is named in the output by its id. */
export type ToolOutcome = { readonly output: string; readonly artifacts?: readonly Artifact[] } & (
  | { readonly status: "done" }
  | { readonly status: "failed"; readonly failure: Failure }
);

export type Tool = {
  /** Canonical name, unique over all tools. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly input: JsonSchema;
  /** Other spellings that models use. */
  readonly aliases: readonly string[];
  readonly category: ToolCategory;
  /** `safe`: running it twice does no harm, so it may run beside others and again after a crash. */
  readonly rerun: "safe" | "unsafe";
  /** Time limit of one call, milliseconds. */
  readonly timeoutMs: number;
  /** Names the definition of a tool that a stranger may define anew; a yes for the session counts for no other one. */
  readonly edition?: string;
  /** Why a person is asked about each call, also where the policy allows it. */
  readonly unsettled?: string;
  /** The folder whose conversations alone have it, absolute; without one all have it. */
  readonly workspace?: string;
  /** What a call with these (valid) arguments is going to touch. `workspace` is absolute. */
  needs(args: JsonObject, workspace: string): readonly Permission[];
  /** Arguments are valid by `input`. Never throws for expected outcomes. */
  run(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
};

/** The tools there are at this moment; asked anew at every step, so that plugins may come and go. */
export type ToolSource = () => readonly Tool[];

/** Calls `changed` whenever tools or slash commands may be others than before, until the value is called. */
export type OfferNews = (changed: () => void) => () => void;
