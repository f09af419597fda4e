import { type Event, TurnOutcome } from "../proto/gen/clawd/v1/event_pb.ts";
import { EXIT } from "./trouble.ts";

/** Which part of a session's news is wanted. */
export type WatchScope = {
  /** The daemon sends what came after this event. */
  readonly after: number;
  /** Events up to this one are followed in silence. */
  readonly showAfter: number;
  /** True to pass over in silence everything that was there before the message is said. */
  readonly muteHistory: boolean;
  /** `turn`: until the said turn ends. `quiet`: until no turn runs. `person`: until Ctrl-C. */
  readonly until: "turn" | "quiet" | "person";
};

/** What a watcher knows of the session: where it is, which turn runs, and whether the plan is fulfilled. */
export type TurnState = {
  /** Takes an event in; true when it is to be shown. */
  event(event: Event): boolean;
  /** History is through; true the first time. */
  caughtUp(): boolean;
  /** The daemon named the turn that answers. */
  said(turnId: string): void;
  /** Ctrl-C; true when the running turn should be stopped, false when the watch is over. */
  interrupted(): boolean;
  showsDeltas(): boolean;
  /** True while a turn runs or was asked for: a daemon that goes away now was not told to. */
  expectsNews(): boolean;
  lastSeq(): number;
};

/** @param leave is called with the exit code once the plan is fulfilled */
export function openTurnState(plan: WatchScope, leave: (exit: number) => void): TurnState {
  /** Turns that ended before the daemon's answer told which one is ours. */
  const endedEarly = new Map<string, TurnOutcome>();
  let awaited: string | undefined;
  let running = "";
  let isCaughtUp = false;
  let interrupts = 0;
  let lastSeq = plan.after;

  function turnEnded(turnId: string, outcome: TurnOutcome): void {
    running = "";
    interrupts = 0;
    if (plan.until === "quiet" && isCaughtUp) leave(exitOf(outcome));
    if (plan.until !== "turn") return;
    if (awaited === undefined) endedEarly.set(turnId, outcome);
    else if (awaited === turnId) leave(exitOf(outcome));
  }
  return {
    event(event) {
      lastSeq = event.seq;
      const { body } = event;
      if (body.case === "turnStarted") running = body.value.turnId;
      if (body.case === "turnEnded") turnEnded(body.value.turnId, body.value.outcome);
      return event.seq > plan.showAfter && (isCaughtUp || !plan.muteHistory);
    },
    caughtUp() {
      const first = !isCaughtUp;
      isCaughtUp = true;
      endedEarly.clear();
      if (plan.until === "quiet" && running === "") leave(EXIT.done);
      return first;
    },
    said(turnId) {
      awaited = turnId;
      const outcome = endedEarly.get(turnId);
      endedEarly.clear();
      if (outcome === undefined) running = turnId;
      else leave(exitOf(outcome));
    },
    interrupted() {
      interrupts++;
      const stops = interrupts === 1 && running !== "";
      if (!stops) leave(EXIT.interrupted);
      return stops;
    },
    expectsNews: () => running !== "" || plan.until === "turn",
    // Before that, deltas would come ahead of the events that they follow.
    showsDeltas: () => isCaughtUp,
    lastSeq: () => lastSeq,
  };
}

function exitOf(outcome: TurnOutcome): number {
  return outcome === TurnOutcome.DONE ? EXIT.done : EXIT.failed;
}
