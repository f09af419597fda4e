import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failure, unreachable } from "../../domain/failure.ts";
import type { HookOutcome } from "../../domain/hook.ts";
import { isJsonObject } from "../../domain/json-object.ts";
import { grants, judge, type Policy } from "../../domain/policy.ts";
import { malformedArgs } from "../../domain/provider.ts";
import { definitionKey, type Session } from "../../domain/session.ts";
import type { Tool } from "../../domain/tool.ts";
import { hookThatSaid } from "./receipts.ts";
import { schemaCheck } from "./schema-check.ts";

/** A call on its way through the gates. */
export type Call = { readonly callId: string; readonly tool: Tool; readonly args: JsonObject };

/** What one gate says of a call. `change` sends the changed call through the gates again. */
export type Opinion =
  | { readonly verdict: "pass" }
  | { readonly verdict: "allow"; readonly because: string }
  | { readonly verdict: "ask"; readonly because: string }
  | { readonly verdict: "deny"; readonly failure: Failure }
  | { readonly verdict: "answer"; readonly output: string; readonly because: string }
  | { readonly verdict: "change"; readonly args: JsonObject; readonly because: string };

export type GateContext = {
  readonly session: Session;
  /** Lets hooks hear of the call; undefined when they are not to be asked, or have been. */
  readonly askHooks: ((call: Call) => Promise<HookOutcome>) | undefined;
};

export type Gate = { readonly name: string; judge(call: Call, context: GateContext): Opinion | Promise<Opinion> };

export type Trace = { readonly gate: string; readonly verdict: string; readonly because: string };

/** What all gates said together. `ask` means that nobody said no and a person has to say yes. */
export type Judgement = { readonly call: Call; readonly trace: readonly Trace[] } & (
  | { readonly verdict: "allow" }
  | { readonly verdict: "ask"; readonly because: string }
  | { readonly verdict: "deny"; readonly failure: Failure }
  | { readonly verdict: "answer"; readonly output: string }
);

/** Sends a call through the gates in order: the first no ends it, a question is kept until all have spoken. */
export async function passGates(gates: readonly Gate[], asked: Call, context: GateContext): Promise<Judgement> {
  const trace: Trace[] = [];
  let question: string | undefined;
  for (const gate of gates) {
    const opinion = await gate.judge(asked, context);
    const because =
      opinion.verdict === "pass" ? "" : opinion.verdict === "deny" ? opinion.failure.message : opinion.because;
    if (opinion.verdict !== "pass") trace.push({ gate: gate.name, verdict: opinion.verdict, because });
    switch (opinion.verdict) {
      case "pass":
      case "allow":
        break;
      case "ask":
        question ??= opinion.because;
        break;
      case "deny":
        return { verdict: "deny", failure: opinion.failure, call: asked, trace };
      case "answer":
        return { verdict: "answer", output: opinion.output, call: asked, trace };
      case "change": {
        const again = await passGates(gates, { ...asked, args: opinion.args }, { ...context, askHooks: undefined });
        return { ...again, trace: [...trace, ...again.trace] };
      }
      default:
        return unreachable(opinion);
    }
  }
  if (question === undefined) return { verdict: "allow", call: asked, trace };
  return { verdict: "ask", because: question, call: asked, trace };
}

/** The gates of the house, in their order. Later ones slot in here. */
export function standardGates(
  policy: Policy,
  protectedPath: (path: string, workspace: string) => string | undefined,
): readonly Gate[] {
  return [validInput(), protectedPaths(protectedPath), policyRules(policy), hookScripts()];
}

function validInput(): Gate {
  const check = schemaCheck();
  return {
    name: "input",
    judge({ tool, args }) {
      if (malformedArgs(args) !== undefined) {
        const message = `the arguments of ${tool.name} are not a JSON object`;
        return { verdict: "deny", failure: { code: "invalid", message, hint: "call it again with valid JSON" } };
      }
      const failure = check(tool, args);
      return failure === undefined ? { verdict: "pass" } : { verdict: "deny", failure };
    },
  };
}

/** A hard no, also for a person who allowed everything: these paths decide what the machine runs later. */
function protectedPaths(protectedPath: (path: string, workspace: string) => string | undefined): Gate {
  return {
    name: "protected-path",
    judge({ tool, args }, { session }) {
      for (const need of tool.needs(args, session.workspace)) {
        if (need.kind !== "write" || need.path === undefined) continue;
        const because = protectedPath(need.path, session.workspace);
        if (because === undefined) continue;
        const message = `${tool.name} may not write ${need.path}: ${because}`;
        return { verdict: "deny", failure: { code: "denied", message, hint: "change it yourself if you mean it" } };
      }
      return { verdict: "pass" };
    },
  };
}

function policyRules(policy: Policy): Gate {
  return {
    name: "policy",
    judge({ tool, args }, { session: { workspace } }) {
      const { verdict, because } = judge(policy, { tool, args, workspace });
      if (verdict === "allow" && tool.unsettled !== undefined) return { verdict: "ask", because: tool.unsettled };
      if (verdict !== "deny") return { verdict, because };
      return {
        verdict: "deny",
        failure: { code: "denied", message: because, hint: "ask the owner to change [policy] in config.toml" },
      };
    },
  };
}

function hookScripts(): Gate {
  return {
    name: "hooks",
    async judge(call, { askHooks }) {
      if (askHooks === undefined) return { verdict: "pass" };
      const { tool } = call;
      const { answer, receipts } = await askHooks(call);
      switch (answer.do) {
        case "pass":
        case "skip":
          return { verdict: "pass" };
        case "ask":
          return { verdict: "ask", because: answer.because };
        case "block": {
          const message = `${hookThatSaid("block", receipts)} blocked ${tool.name}: ${answer.because}`;
          return { verdict: "deny", failure: { code: "denied", message } };
        }
        case "answer":
          return { verdict: "answer", output: textOf(answer.result), because: "a hook answered in the tool's place" };
        case "modify": {
          const { tool: changedTool, args: changedArgs } = answer.value;
          if (isJsonObject(changedArgs) && changedTool === tool.name)
            return { verdict: "change", args: changedArgs, because: "a hook changed the arguments" };
          const message = `a hook changed the call of ${tool.name} to another tool, or to something without "args"`;
          return { verdict: "deny", failure: { code: "invalid", message, hint: "return { modify: { tool, args } }" } };
        }
        default:
          return unreachable(answer);
      }
    },
  };
}

/** Why a question about this call was answered with yes when the turn began; undefined when it was not. */
export function grantedForTurn(session: Session, { tool, args }: Call): string | undefined {
  if (session.turn?.yolo === true) return "--yolo answers every question with yes";
  const { workspace } = session;
  const pattern = session.turn?.allow.find((allow) => grants(allow, { tool, args, workspace }));
  return pattern === undefined ? undefined : `--allow "${pattern}"`;
}

/** Why a question about this call of the model's needs no asking; undefined when it does. */
export function givenAnswer(session: Session, call: Call): string | undefined {
  const { tool } = call;
  const granted = grantedForTurn(session, call);
  if (granted !== undefined) return granted;
  if (session.allowedTools.includes(definitionKey(tool.name, tool.edition)))
    return `a person allowed ${tool.name} for this session`;
  return undefined;
}

export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
