import type { Desk } from "../../core/domain/desk.ts";

/** A call, an event or a command that a plugin is working on: what it may ask its host for meanwhile. */
export type LiveCall = {
  /** As the plugin knows it. */
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
  /** Undefined for a call that is over, for another plugin's, and for an id that several calls have now. */
  find(callId: string): LiveCall | undefined;
  ids(): readonly string[];
  /** An id that no open call has: models of two conversations may give theirs the same one. */
  freeId(callId: string): string;
};

export function liveCalls(): LiveCalls {
  const open = new Map<string, Set<LiveCall>>();
  return {
    open(call) {
      const { callId } = call;
      const same = open.get(callId) ?? new Set();
      // An object of its own: what is opened twice is closed twice.
      const mine = { ...call };
      open.set(callId, same.add(mine));
      return () => {
        same.delete(mine);
        if (same.size === 0 && open.get(callId) === same) open.delete(callId);
      };
    },
    find(callId) {
      // What one conversation is asked must never be answered by another: of two nobody can say which is meant.
      const [only, ...others] = open.get(callId) ?? [];
      return others.length === 0 ? only : undefined;
    },
    ids: () => [...open.keys()],
    freeId(callId) {
      let id = callId;
      for (let number = 2; open.has(id); number += 1) id = `${callId}~${number}`;
      return id;
    },
  };
}
