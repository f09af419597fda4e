import type { Awake } from "./awake-session.ts";
import { type Caller, runProgramTurn } from "./turn/program-turn.ts";
import type { TurnContext } from "./turn/turn-context.ts";
import { runTurn } from "./turn/turn-loop.ts";

/** The turns that are being worked on, at most one a session. */
export type RunningTurns = {
  /** Starts working on the turn that the journal says is open, if any. */
  start(session: Awake): void;
  stop(id: string): void;
  has(id: string): boolean;
  count(): number;
  /** Resolves when all that run now have ended. */
  ended(): Promise<unknown>;
};

export type RunningParts = {
  /** What a turn works with until the signal aborts. */
  readonly contextOf: (session: Awake, turnId: string, signal: AbortSignal) => TurnContext;
  /** The program that made a call. */
  readonly callerOf: (callId: string) => Caller;
  /** The session in memory of that id; after a failed write it is another than before. */
  readonly find: (id: string) => Promise<Awake | undefined>;
  /** Aborts when no turn may run any more. */
  readonly stopping: AbortSignal;
  readonly complain: (cause: unknown) => void;
};

export function runningTurns({ contextOf, callerOf, find, stopping, complain }: RunningParts): RunningTurns {
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  function start(session: Awake): void {
    const { turn, id } = session.writer.state();
    if (turn === undefined || running.has(id) || stopping.aborted) return;
    const stop = new AbortController();
    const context = contextOf(session, turn.id, AbortSignal.any([stop.signal, stopping]));
    const work = turn.caller === "" ? runTurn(context) : runProgramTurn(context, callerOf);
    const ended = work.finally(() => {
      running.delete(id);
      // A message may have started the next turn before this one left.
      if (session.writer.failure() === undefined) start(session);
      else startLeft(id).catch(complain);
    });
    running.set(id, { stop, ended });
  }

  /** After a failed write the session may have been folded anew, with a turn that could not start beside the old one. */
  async function startLeft(id: string): Promise<void> {
    const session = await find(id);
    if (session !== undefined) start(session);
  }

  return {
    start,
    stop: (id) => running.get(id)?.stop.abort(),
    has: (id) => running.has(id),
    count: () => running.size,
    ended: () => Promise.all([...running.values()].map((turn) => turn.ended)),
  };
}
