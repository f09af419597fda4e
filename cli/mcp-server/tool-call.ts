import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type ToolCallEnded, ToolCallStatus } from "../../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { ok } from "../trouble.ts";
import { resultContent } from "./artifact-content.ts";
import type { House } from "./house.ts";
import { lendModel } from "./lend-model.ts";
import { failedResult, type OpenWish, openWork, type Step, type Work } from "./work.ts";

export type ToolCall = {
  readonly sessionId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly caller: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** True when the client's person can be asked. */
  readonly canAnswer: boolean;
  /** True where tools that would ask a model of the house ask the client's. */
  readonly lends: boolean;
};

/** Words for programs; the text of the result has the reasons. */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  [ToolCallStatus.DONE]: "done",
  [ToolCallStatus.FAILED]: "failed",
  [ToolCallStatus.DENIED]: "denied",
  [ToolCallStatus.LOST]: "lost",
  [ToolCallStatus.CANCELLED]: "cancelled",
  [ToolCallStatus.ANSWERED]: "answered",
};

/** Calls a tool of the daemon's. Hanging up is what stops it: also when this process is killed. */
export function callTool(house: House, call: ToolCall): Work {
  const hangUp = new AbortController();
  const ask = (wish: OpenWish) => work.wish(wish);
  const work = openWork(follow(house, call, ask, hangUp.signal), () => hangUp.abort());
  return work;
}

async function* follow(
  house: House,
  { allow, lends, ...call }: ToolCall,
  ask: (wish: OpenWish) => void,
  signal: AbortSignal,
): AsyncGenerator<Step, CallToolResult, undefined> {
  const ended = new AbortController();
  try {
    const lender = lends ? await lendModel(house, ask, AbortSignal.any([signal, ended.signal])) : ok("");
    if (!lender.ok) return failedResult(lender.trouble.message, lender.trouble.hint);
    return yield* followCall(house, { ...call, allow: [...allow], lenderId: lender.value }, signal);
  } finally {
    ended.abort();
  }
}

type Asked = Omit<ToolCall, "allow" | "lends"> & { readonly allow: string[]; readonly lenderId: string };

async function* followCall(
  house: House,
  call: Asked,
  signal: AbortSignal,
): AsyncGenerator<Step, CallToolResult, undefined> {
  const { sessionId } = call;
  for await (const item of house.stream(SessionService.method.callTool, call, signal)) {
    if (!item.ok) return failedResult(item.trouble.message, item.trouble.hint);
    const { news } = item.value;
    if (news.case === "delta") yield { kind: "progress", text: news.value.text };
    if (news.case !== "event") continue;
    const { body } = news.value;
    switch (body.case) {
      case "approvalAsked":
        yield { kind: "question", question: body.value, sessionId };
        break;
      case "approvalAnswered":
      case "approvalExpired":
        yield { kind: "settled", approvalId: body.value.approvalId };
        break;
      case "toolCallEnded":
        return resultOf(body.value, sessionId, await resultContent(house, sessionId, body.value, signal));
    }
  }
  if (signal.aborted) return failedResult(`the call of ${call.tool} was cancelled`, undefined);
  return failedResult(`the daemon went away while ${call.tool} ran`, "it may or may not have taken effect");
}

function resultOf(
  { status, callId, failure }: ToolCallEnded,
  sessionId: string,
  content: CallToolResult["content"],
): CallToolResult {
  const isError = status !== ToolCallStatus.DONE && status !== ToolCallStatus.ANSWERED;
  const category = failure?.category ?? "";
  return {
    content,
    ...(isError ? { isError } : {}),
    _meta: {
      "clawd/session": sessionId,
      "clawd/call": callId,
      "clawd/status": STATUS_WORDS[status] ?? "failed",
      ...(category === "" ? {} : { "clawd/category": category }),
    },
  };
}
