import { TurnOutcome } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { type Failure, ok } from "../../domain/failure.ts";
import { type OneByOne, oneByOne } from "../../domain/one-by-one.ts";
import type { ProgramCall } from "../../domain/session.ts";
import { callStarted, refusal } from "./call-events.ts";
import { judgeCall } from "./judge-call.ts";
import { runCall } from "./run-call.ts";
import type { LentModel, TurnContext } from "./turn-context.ts";

/** The program that made a call. */
export type Caller = {
  /** Aborts when it is gone. */
  readonly hungUp: AbortSignal;
  /** What it lends to the call. */
  readonly lentModel: LentModel | undefined;
};

/**
 * Works on the calls of a program until none is open, those that join meanwhile included: each passes the gates, the hooks and,
 * if need be, a person, as a model's does. Calls that are safe to rerun go together; any other waits for its like. Returns when
 * `turnEnded` is durable, or when the journal can take nothing more.
 *
 * @param callerOf who waits for the call with this id
 */
export async function runProgramTurn(turn: TurnContext, callerOf: (callId: string) => Caller): Promise<void> {
  const { writer, turnId } = turn;
  const taken = new Set<string>();
  const inTurn = oneByOne();
  const forever = new AbortController().signal;
  while (writer.failure() === undefined && writer.state().turn?.id === turnId) {
    const { programCalls } = writer.state();
    for (const call of programCalls.values()) {
      if (taken.has(call.callId)) continue;
      taken.add(call.callId);
      const { hungUp, lentModel } = callerOf(call.callId);
      const signal = AbortSignal.any([turn.signal, hungUp]);
      void answerCall({ ...turn, signal, ...(lentModel === undefined ? {} : { lentModel }) }, call, inTurn);
    }
    if (programCalls.size === 0) await endIfIdle(turn);
    else {
      await writer.until(
        (session) => session.programCalls.size === 0 || [...session.programCalls.keys()].some((id) => !taken.has(id)),
        forever,
      );
    }
  }
}

/** The writer's order decides: a call that is asked for just now is either in this turn or begins the next. */
async function endIfIdle({ writer, turnId, signal }: TurnContext): Promise<void> {
  await writer.write((session) => {
    if (session.turn?.id !== turnId || session.programCalls.size > 0) return ok([]);
    const outcome = session.turn.interrupted || signal.aborted ? TurnOutcome.CANCELLED : TurnOutcome.DONE;
    return ok([{ case: "turnEnded", value: { turnId, outcome } }]);
  });
}

/** Brings one call to its end. Never throws. */
async function answerCall(turn: TurnContext, call: ProgramCall, inTurn: OneByOne): Promise<void> {
  try {
    await judgeAndRun(turn, call, inTurn);
  } catch (cause) {
    turn.complain(cause);
    const message = `the call of ${call.tool} broke: ${cause instanceof Error ? cause.message : String(cause)}`;
    const failure: Failure = { code: "unavailable", message, hint: "a fault of clawd: clawd.log has the place" };
    await turn.writer.post([refusal(turn.turnId, call.callId, call.tool, failure, [])]);
  }
}

async function judgeAndRun(turn: TurnContext, { callId, tool, args }: ProgramCall, inTurn: OneByOne): Promise<void> {
  const { writer, turnId, signal } = turn;
  await turn.toolsLearned?.(signal);
  const { bodies, started } = await judgeCall(turn, turn.tools(), { kind: "toolCall", callId, tool, args }, nothing);
  if (started === undefined) return writer.post(bodies);
  const { call, trace, attempt } = started;

  async function run(): Promise<void> {
    // Between the judging and this somebody may have said stop, and not every tool looks at the signal before it acts.
    if (signal.aborted) {
      const failure: Failure = { code: "cancelled", message: `${call.tool.name} was interrupted before it began` };
      return writer.post([...bodies, refusal(turnId, callId, call.tool.name, failure, trace)]);
    }
    const written = await writer.write(() => ok([...bodies, callStarted(turnId, call, trace, attempt)]));
    if (written.ok) await writer.post(await runCall(turn, call));
  }

  await (call.tool.rerun === "safe" ? run() : inTurn(run));
}

async function nothing(): Promise<void> {}
