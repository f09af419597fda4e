import { ToolCallStatus } from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "../../domain/event.ts";
import type { Failure } from "../../domain/failure.ts";
import type { ReplyBlock } from "../../domain/provider.ts";
import type { Tool } from "../../domain/tool.ts";
import { askPerson } from "./ask-person.ts";
import { refusal } from "./call-events.ts";
import { findTool, unknownTool } from "./find-tool.ts";
import { fireHooks } from "./fire-hooks.ts";
import { type Call, givenAnswer, type Judgement, passGates, type Trace } from "./gates.ts";
import type { TurnContext } from "./turn-context.ts";

export type ToolCallBlock = Extract<ReplyBlock, { kind: "toolCall" }>;

/** A call that may run. */
export type Started = { readonly call: Call; readonly trace: readonly Trace[]; readonly attempt: number };

/** What the gates and a person made of a call: the events about it so far, and its start when it may run. */
export type Judged = { readonly bodies: readonly EventBody[]; readonly started?: Started };

/** Sends one call through the gates and, if need be, to a person. `beforeAsking` runs what was judged before it. */
export async function judgeCall(
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
      async askHooks({ args, callId }) {
        const fired = await fireHooks(turn, { at: "tool.before", callId, value: { tool: tool.name, args } });
        receipts.push(...fired.bodies);
        return fired;
      },
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
      // Ahead of the question, as it came.
      writer.hold(receipts.splice(0));
      const said = await askPerson(turn, call, judgement.because);
      if (said.allowed) return start([...trace, { gate: "ask", verdict: "allow", because: "the person said yes" }]);
      const message = `${tool.name} did not run: ${said.because}`;
      const code = turn.signal.aborted ? "cancelled" : "denied";
      const failure: Failure = { code, message, ...(said.hint === undefined ? {} : { hint: said.hint }) };
      return { bodies: [...receipts, refusal(turnId, call.callId, tool.name, failure, trace)] };
    }
  }
}

function answered(turnId: string, judgement: Extract<Judgement, { verdict: "answer" }>): EventBody {
  const { call, output, trace } = judgement;
  const { callId, tool } = call;
  const status = ToolCallStatus.ANSWERED;
  return { case: "toolCallEnded", value: { turnId, callId, tool: tool.name, status, output, trace: [...trace] } };
}
