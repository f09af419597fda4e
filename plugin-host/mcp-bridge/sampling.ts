import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type CreateMessageResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { CallHost, WordsWanted } from "../sdk/plugin.ts";
import type { FailureCategory } from "./failure-class.ts";
import { isObject } from "./json-object.ts";

/** What the protocol has for a person who says no. */
const USER_REJECTED = -1;
/** Numbers of the wire end here. */
const MOST_TOKENS = 2 ** 32 - 1;

const STOPS: Readonly<Record<string, string>> = { done: "endTurn", length: "maxTokens", refused: "refusal" };

export type SamplingParts = {
  /** The one call that is under way; undefined when there is none or nobody can say which is meant. */
  readonly call: () => CallHost | undefined;
  /** Hears before the model is asked and after it has answered: nobody is silent meanwhile. */
  readonly waiting: (isWaiting: boolean) => void;
  readonly note: (line: string) => void;
  /** Aborts when the server does not want it any more. */
  readonly signal: AbortSignal;
};

/** Lets a server ask the model of the conversation that it is working for. Throws `ProtocolError`, with the class as its data. */
export async function sampleModel(
  params: JsonObject,
  { call, waiting, note, signal }: SamplingParts,
): Promise<CreateMessageResult> {
  const wanted = readWanted(params);
  const host = call();
  if (host === undefined) throw refusal("policy_blocked", USER_REJECTED, "it belongs to no call, or to one of several");
  waiting(true);
  try {
    const { text, stop, model, tokens, tokensLeft } = await host.generate(wanted, signal);
    note(`info: it asked ${model} for ${tokens} tokens; ${tokensLeft} are left today`);
    return { role: "assistant", content: { type: "text", text }, model, stopReason: STOPS[stop] ?? "endTurn" };
  } catch (cause) {
    const { rawMessage: message } = ConnectError.from(cause);
    note(`warning: it may not ask a model: ${message}`);
    throw refusalOf(ConnectError.from(cause));
  } finally {
    waiting(false);
  }
}

function refusalOf({ code, rawMessage: message }: ConnectError): ProtocolError {
  switch (code) {
    case Code.PermissionDenied:
      return refusal("policy_blocked", USER_REJECTED, message);
    case Code.InvalidArgument:
    case Code.NotFound:
      return refusal("invalid_input", ProtocolErrorCode.InvalidParams, message);
    case Code.ResourceExhausted:
      return refusal("rate_limited", ProtocolErrorCode.InternalError, message);
    default:
      return refusal("transient", ProtocolErrorCode.InternalError, message);
  }
}

function refusal(category: FailureCategory, code: number, message: string): ProtocolError {
  return new ProtocolError(code, message, { category });
}

function readWanted({ systemPrompt, messages, maxTokens, tools }: JsonObject): WordsWanted {
  if (Array.isArray(tools) && tools.length > 0) throw invalid("models are lent without tools");
  if (typeof maxTokens !== "number" || maxTokens < 1) throw invalid("maxTokens must be at least 1");
  if (!Array.isArray(messages)) throw invalid("there are no messages");
  return {
    system: typeof systemPrompt === "string" ? systemPrompt : "",
    messages: messages.map(readMessage),
    maxTokens: Math.min(Math.floor(maxTokens), MOST_TOKENS),
  };
}

function readMessage(message: JsonValue): WordsWanted["messages"][number] {
  if (!isObject(message) || (message.role !== "user" && message.role !== "assistant"))
    throw invalid("a message is by user or assistant");
  const { role, content } = message;
  const texts = (Array.isArray(content) ? content : [content]).map((one) => {
    if (!isObject(one) || one.type !== "text" || typeof one.text !== "string")
      throw invalid("models are asked with texts alone");
    return one.text;
  });
  return { role, texts };
}

function invalid(message: string): ProtocolError {
  return refusal("invalid_input", ProtocolErrorCode.InvalidParams, message);
}
