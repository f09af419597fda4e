import type { JsonObject } from "@bufbuild/protobuf";
import { ToolCallStatus } from "../../../proto/gen/clawd/v1/event_pb.ts";
import { type Failure, ok, type Result } from "../../domain/failure.ts";
import { answerKey, definitionKey, hookCallId } from "../../domain/session.ts";
import { askPerson } from "./ask-person.ts";
import { callStarted, refusal } from "./call-events.ts";
import { findTool, unknownTool } from "./find-tool.ts";
import { type Call, grantedForTurn, passGates, type Trace } from "./gates.ts";
import type { OpenDesk } from "./open-desk.ts";
import { endOf, runTool } from "./run-tool.ts";
import type { TurnContext } from "./turn-context.ts";

export type StrangersCall = {
  /** "hook:NAME" or "plugin:NAME". */
  readonly principal: string;
  /** A name or an alias. */
  readonly tool: string;
  readonly args: JsonObject;
};

/**
 * Runs a tool for a hook or a plugin: through the gates and, if need be, past a person, but not through hooks. Start and end are in
 * the journal as those of any call; the model hears nothing of it. A failure's message is what a model would read.
 */
export async function callForStranger(
  turn: TurnContext,
  order: StrangersCall,
  openDesk: OpenDesk,
): Promise<Result<string>> {
  const { writer, turnId } = turn;
  const callId = hookCallId(order.principal, turn.nextHookCall());
  const tools = turn.tools();
  const tool = findTool(tools, order.tool);

  async function refuse(name: string, failure: Failure, trace: readonly Trace[]): Promise<Result<string>> {
    const written = await writer.write(() => ok([refusal(turnId, callId, name, failure, trace)]));
    return written.ok ? { ok: false, failure } : written;
  }

  if (tool === undefined) return refuse(order.tool, unknownTool(tools, order.tool), []);
  const asked: Call = { callId, tool, args: order.args };
  const judgement = await passGates(turn.gates, asked, { session: writer.state(), askHooks: undefined });
  const { call } = judgement;
  let { trace } = judgement;
  if (judgement.verdict === "deny") return refuse(tool.name, judgement.failure, trace);
  if (judgement.verdict === "answer") throw new Error("a gate answered a hook's call, which only hooks do");
  if (judgement.verdict === "ask") {
    const said = await sayYes(turn, call, order.principal, judgement.because);
    if (!said.ok) return refuse(tool.name, said.failure, trace);
    trace = [...trace, { gate: "ask", verdict: "allow", because: said.value }];
  }
  if (turn.signal.aborted) {
    return refuse(
      tool.name,
      { code: "cancelled", message: `${tool.name} was not begun: what it was called for is over` },
      trace,
    );
  }
  const started = await writer.write(() => ok([callStarted(turnId, call, trace, 1)]));
  if (!started.ok) return started;
  const run = await runTool(turn, call, openDesk);
  const end = endOf(turn, call, run, run.outcome.output);
  await writer.post([{ case: "toolCallEnded", value: end }]);
  if (end.status === ToolCallStatus.DONE) return ok(end.output);
  const { code = "unavailable", hint } = run.outcome.status === "failed" ? run.outcome.failure : {};
  return { ok: false, failure: { code, message: end.output, ...(hint === undefined ? {} : { hint }) } };
}

/** Why the question about a hook's call is answered with yes. What was said about the model's calls does not count. */
async function sayYes(turn: TurnContext, call: Call, principal: string, because: string): Promise<Result<string>> {
  const session = turn.writer.state();
  const { name } = call.tool;
  const given = grantedForTurn(session, call);
  if (given !== undefined) return ok(given);
  const denied = (why: string, hint?: string): Result<string> => {
    const message = `${name} did not run: ${why}`;
    return { ok: false, failure: { code: "denied", message, ...(hint === undefined ? {} : { hint }) } };
  };
  const known = session.hookAnswers.get(answerKey(principal, `calls ${definitionKey(name, call.tool.edition)}`));
  if (known === true) return ok(`a person allowed ${principal} to call ${name} for this session`);
  if (known === false) return denied("the person said no for this session");
  const ask = () => askPerson(turn, call, `${principal} wants to make this call; ${because}`);
  const said = await turn.oneQuestion(ask, turn.signal);
  return said.allowed ? ok("the person said yes") : denied(said.because, said.hint);
}
