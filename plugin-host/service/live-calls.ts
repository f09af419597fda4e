import type { Desk } from "../../core/domain/desk.ts";

/** A call, an event or a command that a plugin is working on: what it may ask its host for meanwhile. */
export type LiveCall = {
  readonly callId: string;
  readonly sessionId: string;
  readonly workspace: string;
  /** Shows a line to whoever waits. */
  readonly progress: (line: string) => void;
  readonly desk: Desk;
};

/** What one plugin is working on at this moment. */
export type LiveCalls = {
  /** Until the value is called. */
  open(call: LiveCall): () => void;
  /** Undefined for a call that is over, or another plugin's. */
  find(callId: string): LiveCall | undefined;
  ids(): readonly string[];
};

export function liveCalls(): LiveCalls {
  const open = new Map<string, LiveCall>();
  return {
    open(call) {
      open.set(call.callId, call);
      return () => {
        // A second call of the same id has taken its place.
        if (open.get(call.callId) === call) open.delete(call.callId);
      };
    },
    find: (callId) => open.get(callId),
    ids: () => [...open.keys()],
  };
}
