import type { EventBody } from "../../domain/event.ts";
import { unreachable } from "../../domain/failure.ts";
import type { HookOutcome } from "../../domain/hook.ts";
import { fireHooks } from "./fire-hooks.ts";
import { type Call, textOf } from "./gates.ts";
import { openDesk } from "./open-desk.ts";
import { hookThatSaid } from "./receipts.ts";
import { endOf, runTool } from "./run-tool.ts";
import type { TurnContext } from "./turn-context.ts";

/** Runs a call of the model's that all gates let through and whose start is durable. Returns the events that close it. */
export async function runCall(turn: TurnContext, call: Call): Promise<readonly EventBody[]> {
  const { callId, tool, args } = call;
  const run = await runTool(turn, call, openDesk);
  const { status, output } = run.outcome;
  const value = { tool: tool.name, args, status, output };
  // Also when the call was interrupted: what hooks keep from the model must not slip by on a stop.
  const fired = await fireHooks(turn, { at: "tool.after", callId, value, signal: turn.lastSignal });
  const end = endOf(turn, call, run, hookedOutput(fired, output));
  return [...fired.bodies, { case: "toolCallEnded", value: end }];
}

function hookedOutput({ answer, receipts }: HookOutcome, output: string): string {
  switch (answer.do) {
    case "modify":
      return typeof answer.value.output === "string" ? answer.value.output : textOf(answer.value);
    case "answer":
      return textOf(answer.result);
    case "block":
    case "ask":
      // Nobody is asked about an output: a person cannot take back what a model has read.
      return `${hookThatSaid(answer.do, receipts)} withheld the output: ${answer.because}`;
    case "pass":
    case "skip":
      return output;
    default:
      return unreachable(answer);
  }
}
