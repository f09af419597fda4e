import type { HookContext } from "../../core/domain/hook.ts";
import type { EnvView } from "../guest/env-view.ts";
import type { CallAnswer, CallName, Json, SysView } from "../guest/guest-protocol.ts";

/**
 * Everything one guest may do to the outside, under one grant that its answers from people widen and its own revocations
 * narrow. It lives as long as its guest. Every call is judged, recorded, and only then done.
 */
export type Capabilities = {
  /** Serves one call of the guest's. Never rejects; `args` is taken as a stranger's JSON. */
  call(id: number, name: CallName, args: Json): Promise<CallAnswer>;
  /** The variables and facts that are open at the start. Recorded; undefined when that failed. */
  open(): Promise<{ readonly env: EnvView; readonly sys: SysView } | undefined>;
  /** From now on this context is asked and told; undefined between events. */
  attend(context: BrokerContext | undefined): void;
  /** True when a call since the last `attend` may have changed something outside: then the event must not be run again. */
  readonly hadEffect: boolean;
  /** How many questions are open with a person now: the clock of the event stands still meanwhile. */
  readonly asking: number;
  /** Gives up what is under way. */
  close(): void;
};

/** The part of the conversation's offer that the broker needs; a script has no tools. */
export type BrokerContext = Pick<HookContext, "record" | "ask"> & {
  readonly tools?: Pick<HookContext, "toolName" | "callTool">;
};
