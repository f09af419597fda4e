import { TurnOutcome } from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../../domain/event.ts";
import { type Failure, failureToProto, ok } from "../../domain/failure.ts";
import type { ResolvedModel } from "../../domain/provider.ts";
import type { Session } from "../../domain/session.ts";
import type { Tool } from "../../domain/tool.ts";
import { callStarted } from "./call-events.ts";
import { findTool } from "./find-tool.ts";
import { fireHooks } from "./fire-hooks.ts";
import { judgeCall, type Started, type ToolCallBlock } from "./judge-call.ts";
import { preparePrompt } from "./prepare-prompt.ts";
import { stoppedBy } from "./receipts.ts";
import { runCall } from "./run-call.ts";
import { streamReply } from "./stream-reply.ts";
import type { TurnContext } from "./turn-context.ts";

/**
 * Works on a turn until it has ended: ask the model, run what it calls, ask again. Takes up a turn that a restart left
 * with running calls as well. Returns when `turnEnded` is durable, or when the journal can take nothing more.
 */
export async function runTurn(turn: TurnContext): Promise<void> {
  try {
    await rerunCalls(turn);
    while (turn.writer.failure() === undefined && turn.writer.state().turn?.id === turn.turnId) {
      const outcome = await takeStep(turn);
      if (outcome !== undefined) await endTurn(turn, outcome);
    }
  } catch (cause) {
    turn.complain(cause);
    const message = `the turn broke: ${cause instanceof Error ? cause.message : String(cause)}`;
    const failure: Failure = { code: "unavailable", message, hint: "a fault of clawd: clawd.log has the place" };
    await endTurn(turn, failed(failure));
  }
}

type Ending = { readonly outcome: TurnOutcome; readonly failure?: Failure };
const DONE: Ending = { outcome: TurnOutcome.DONE };
const CANCELLED: Ending = { outcome: TurnOutcome.CANCELLED };

function failed(failure: Failure): Ending {
  return { outcome: TurnOutcome.FAILED, failure };
}

/** One model call and the tools it asks for. Says how the turn ends, or nothing when it goes on. */
async function takeStep(turn: TurnContext): Promise<Ending | undefined> {
  const state = turn.writer.ahead().turn;
  if (state === undefined) return undefined;
  if (turn.signal.aborted || state.interrupted) return CANCELLED;
  const limit = state.attended ? turn.limits.attendedSteps : turn.limits.unattendedSteps;
  if (state.steps >= limit) {
    const message = `the turn used up its ${limit} model calls`;
    const hint = "say “go on” to continue, or raise [limits] in config.toml";
    return failed({ code: "exhausted", message, hint });
  }
  const resolved = turn.providers.resolve(state.model);
  if (!resolved.ok) return failed(resolved.failure);
  const step = state.steps + 1;
  const begun = await fireHooks(turn, { at: "step.before", value: { step } });
  turn.writer.hold(begun.bodies);
  const stopped = stoppedBy(begun, "step.before");
  if (turn.signal.aborted) return CANCELLED;
  if (stopped !== undefined) return failed(stopped);

  const { ending, calls } = await askModel(turn, resolved.value, step);
  const value = { step, calls: calls.map(({ tool, args }) => ({ tool, args })) };
  const over = await fireHooks(turn, { at: "step.after", value, signal: turn.lastSignal });
  turn.writer.hold(over.bodies);
  return ending;
}

type Asked = { readonly ending: Ending | undefined; readonly calls: readonly ToolCallBlock[] };

async function askModel(turn: TurnContext, { provider, model }: ResolvedModel, step: number): Promise<Asked> {
  await turn.toolsLearned?.(turn.signal);
  const tools = turn.tools();
  const prompt = await preparePrompt(turn, tools, { step, providerName: provider.name, model });
  if (turn.signal.aborted) return { ending: CANCELLED, calls: [] };
  if (!prompt.ok) return { ending: failed(prompt.failure), calls: [] };
  const reply = await streamReply(turn, provider, prompt.value, step);
  if (reply.kind === "broken") {
    const ending = reply.failure.code === "cancelled" ? CANCELLED : failed(reply.failure);
    return { ending, calls: [] };
  }
  if (reply.calls.length === 0) return { ending: DONE, calls: [] };
  await runCalls(turn, tools, reply.calls);
  return { ending: undefined, calls: reply.calls };
}

/** Ends the turn, unless it was done and a person has said something that it does not answer yet. */
async function endTurn(turn: TurnContext, { outcome, failure }: Ending): Promise<void> {
  const { turnId, writer } = turn;
  const goesOn = (session: Session) => session.turn?.id !== turnId || (outcome === TurnOutcome.DONE && session.steered);
  const heard = await hearEnd(turn, outcome, goesOn);
  const model = writer.ahead().turn?.model ?? "";
  const written = await writer.write((session) => {
    if (goesOn(session)) return ok(heard);
    return ok([
      ...heard,
      {
        case: "turnEnded",
        value: { turnId, outcome, ...(failure === undefined ? {} : { failure: failureToProto(failure) }) },
      },
    ]);
  });
  if (written.ok && outcome === TurnOutcome.DONE && writer.state().lastTurn?.id === turnId)
    turn.profile?.turnDone(model);
}

const OUTCOMES: Readonly<Partial<Record<TurnOutcome, string>>> = {
  [TurnOutcome.DONE]: "done",
  [TurnOutcome.CANCELLED]: "cancelled",
};

/** Tells hooks of the end just before it is written, so that whoever waits for it also finds what they did. */
async function hearEnd(
  turn: TurnContext,
  outcome: TurnOutcome,
  goesOn: (session: Session) => boolean,
): Promise<readonly EventBody[]> {
  const { hooks, writer, lastSignal } = turn;
  if (!(await hooks.hears("turn.ended"))) return [];
  await writer.post([]); // The reply may still be held back; without it nobody knows whether the turn is over.
  const session = writer.ahead();
  if (goesOn(session)) return [];
  const value = { outcome: OUTCOMES[outcome] ?? "failed", text: session.turn?.said ?? "" };
  const { bodies } = await fireHooks(turn, { at: "turn.ended", value, signal: lastSignal });
  return bodies;
}

/** Judges and runs the calls of one reply. Calls that are safe to rerun go together; any other goes alone, in its place. */
async function runCalls(turn: TurnContext, tools: readonly Tool[], blocks: readonly ToolCallBlock[]): Promise<void> {
  let together: Started[] = [];
  const bodies: EventBody[] = [];

  async function flush(): Promise<void> {
    const started = together;
    together = [];
    await startAndRun(turn, bodies.splice(0), started);
  }

  for (const block of blocks) {
    // What a person stopped before it was judged gets no event of its own: the turn's end closes it.
    if (turn.signal.aborted) break;
    const judged = await judgeCall(turn, tools, block, flush);
    bodies.push(...judged.bodies);
    if (judged.started === undefined) continue;
    const alone = judged.started.call.tool.rerun === "unsafe";
    if (alone && together.length > 0) {
      const own = bodies.splice(bodies.length - judged.bodies.length);
      await flush();
      bodies.push(...own);
    }
    together.push(judged.started);
    if (alone) await flush();
  }
  await flush();
}

/** Makes the intention durable, then runs: all starts in one write, each end as it comes. */
async function startAndRun(turn: TurnContext, before: readonly EventBody[], judged: readonly Started[]): Promise<void> {
  // Between the judging and this a person may have said stop, and not every tool looks at the signal before it acts.
  const started = turn.signal.aborted ? [] : judged;
  if (before.length === 0 && started.length === 0) return;
  const { turnId, writer } = turn;
  const starts = started.map(({ call, trace, attempt }) => callStarted(turnId, call, trace, attempt));
  const written = await writer.write(() => ok([...before, ...starts]));
  if (!written.ok) return;
  await Promise.all(
    started.map(async ({ call }) => {
      // The model may read the result while the disk still takes it in: no client hears of it before it is there.
      await writer.post(await runCall(turn, call));
    }),
  );
}

/** Runs again what a restart found running and is safe to run again. */
async function rerunCalls(turn: TurnContext): Promise<void> {
  const tools = turn.tools();
  const started: Started[] = [];
  for (const call of turn.writer.state().calls.values()) {
    if (call.status !== "running") continue;
    const tool = findTool(tools, call.tool);
    if (tool === undefined) continue;
    const { callId, args, attempt } = call;
    const trace = [{ gate: "restart", verdict: "allow", because: "safe to run again after a restart" }];
    started.push({ call: { callId, tool, args }, trace, attempt: attempt + 1 });
  }
  await startAndRun(turn, [], started);
}
