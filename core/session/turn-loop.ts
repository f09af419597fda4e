import { ToolCallStatus, TurnOutcome } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../domain/event.ts";
import { type Failure, failureToProto, ok } from "../domain/failure.ts";
import { buildPrompt } from "../domain/prompt.ts";
import type { ReplyBlock } from "../domain/provider.ts";
import type { Tool } from "../domain/tool.ts";
import { askPerson } from "./ask-person.ts";
import { type Call, givenAnswer, type Judgement, passGates, type Trace } from "./gates.ts";
import { receiptBodies } from "./receipts.ts";
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
    await endTurn(turn, { outcome: TurnOutcome.FAILED, failure });
  }
}

type Ending = { readonly outcome: TurnOutcome; readonly failure?: Failure };
const DONE: Ending = { outcome: TurnOutcome.DONE };

/** One model call and the tools it asks for. Says how the turn ends, or nothing when it goes on. */
async function takeStep(turn: TurnContext): Promise<Ending | undefined> {
  const session = turn.writer.ahead();
  const state = session.turn;
  if (state === undefined) return undefined;
  if (turn.signal.aborted || state.interrupted) return { outcome: TurnOutcome.CANCELLED };
  const limit = state.attended ? turn.limits.attendedSteps : turn.limits.unattendedSteps;
  if (state.steps >= limit) {
    const message = `the turn used up its ${limit} model calls`;
    const hint = "say “go on” to continue, or raise [limits] in config.toml";
    return { outcome: TurnOutcome.FAILED, failure: { code: "exhausted", message, hint } };
  }
  const resolved = turn.providers.resolve(state.model);
  if (!resolved.ok) return { outcome: TurnOutcome.FAILED, failure: resolved.failure };

  const tools = turn.tools();
  const { provider, model } = resolved.value;
  const reply = await streamReply(turn, provider, buildPrompt(session, tools, model), state.steps + 1);
  if (reply.kind === "broken") {
    const cancelled = reply.failure.code === "cancelled";
    return cancelled ? { outcome: TurnOutcome.CANCELLED } : { outcome: TurnOutcome.FAILED, failure: reply.failure };
  }
  if (reply.calls.length === 0) return DONE;
  await runCalls(turn, tools, reply.calls);
  return undefined;
}

/** Ends the turn, unless it was done and a person has said something that it does not answer yet. */
async function endTurn(turn: TurnContext, { outcome, failure }: Ending): Promise<void> {
  const { turnId } = turn;
  await turn.writer.write((session) => {
    if (session.turn?.id !== turnId) return ok([]);
    if (outcome === TurnOutcome.DONE && session.steered) return ok([]);
    return ok([
      {
        case: "turnEnded",
        value: { turnId, outcome, ...(failure === undefined ? {} : { failure: failureToProto(failure) }) },
      },
    ]);
  });
}

type ToolCallBlock = Extract<ReplyBlock, { kind: "toolCall" }>;
type Started = { readonly call: Call; readonly trace: readonly Trace[]; readonly attempt: number };

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
  const starts = started.map(({ call, trace, attempt }): EventBody => {
    const value = { turnId, callId: call.callId, tool: call.tool.name, args: call.args, trace: [...trace], attempt };
    return { case: "toolCallStarted", value };
  });
  const written = await writer.write(() => ok([...before, ...starts]));
  if (!written.ok) return;
  await Promise.all(
    started.map(async ({ call }) => {
      // The model may read the result while the disk still takes it in: no client hears of it before it is there.
      await writer.post(await runCall(turn, call));
    }),
  );
}

type Judged = { readonly bodies: readonly EventBody[]; readonly started?: Started };

/** Sends one call through the gates and, if need be, to a person. `beforeAsking` runs what was judged before it. */
async function judgeCall(
  turn: TurnContext,
  tools: readonly Tool[],
  block: ToolCallBlock,
  beforeAsking: () => Promise<void>,
): Promise<Judged> {
  const { turnId, writer } = turn;
  const tool = findTool(tools, block.tool);
  if (tool === undefined)
    return { bodies: [refusal(turnId, block.callId, block.tool, unknownTool(tools, block.tool), [])] };

  const receipts: EventBody[] = [];
  const session = writer.state();
  const judgement = await passGates(
    turn.gates,
    { callId: block.callId, tool, args: block.args },
    {
      session,
      signal: turn.signal,
      receive: (got) => receipts.push(...receiptBodies(turnId, block.callId, "tool.before", got)),
      changed: false,
    },
  );
  const { call, trace } = judgement;
  const start = (why: readonly Trace[]): Judged => ({ bodies: receipts, started: { call, trace: why, attempt: 1 } });
  switch (judgement.verdict) {
    case "allow":
      return start(trace);
    case "deny":
      return { bodies: [...receipts, refusal(turnId, call.callId, tool.name, judgement.failure, trace)] };
    case "answer":
      return { bodies: [...receipts, answered(turnId, judgement)] };
    case "ask": {
      const given = givenAnswer(session, call);
      if (given !== undefined) return start([...trace, { gate: "ask", verdict: "allow", because: given }]);
      await beforeAsking();
      const said = await askPerson(turn, call, judgement.because);
      if (said.allowed) return start([...trace, { gate: "ask", verdict: "allow", because: "the person said yes" }]);
      const message = `${tool.name} did not run: ${said.because}`;
      const failure: Failure = { code: "denied", message, ...(said.hint === undefined ? {} : { hint: said.hint }) };
      return { bodies: [...receipts, refusal(turnId, call.callId, tool.name, failure, trace)] };
    }
  }
}

function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
}

function unknownTool(tools: readonly Tool[], name: string): Failure {
  const hint = `the tools are: ${tools.map((tool) => tool.name).join(", ")}`;
  return { code: "not_found", message: `there is no tool "${name}"`, hint };
}

function refusal(turnId: string, callId: string, tool: string, failure: Failure, trace: readonly Trace[]): EventBody {
  const output = failure.hint === undefined ? failure.message : `${failure.message} (${failure.hint})`;
  const status = failure.code === "denied" ? ToolCallStatus.DENIED : ToolCallStatus.FAILED;
  return {
    case: "toolCallEnded",
    value: { turnId, callId, tool, status, output, failure: failureToProto(failure), trace: [...trace] },
  };
}

function answered(turnId: string, judgement: Extract<Judgement, { verdict: "answer" }>): EventBody {
  const { call, output, trace } = judgement;
  const { callId, tool } = call;
  const status = ToolCallStatus.ANSWERED;
  return { case: "toolCallEnded", value: { turnId, callId, tool: tool.name, status, output, trace: [...trace] } };
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
