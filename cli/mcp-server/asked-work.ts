import type { JsonObject } from "@bufbuild/protobuf";
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { shorten } from "../escape.ts";
import { type PassedServer, readContents } from "./passed-resources.ts";
import { SAY_TOOL, say } from "./say-tool.ts";
import { type Desk, resumeWork, serveWork, takeHeld } from "./serve-work.ts";
import type { ServePlan, Shop } from "./shop.ts";
import { callTool } from "./tool-call.ts";
import { failedResult } from "./work.ts";

/** What is said of a read that came to something else, characters. */
const REFUSAL_CHARS = 500;

type Call = { readonly name: string; readonly args: JsonObject };
type Answer = CallToolResult | InputRequiredResult;

/** Calls a tool under the name that it is offered by. */
export async function callFor(shop: Shop, desk: Desk, { name, args }: Call, ctx: ServerContext): Promise<Answer> {
  const found = await shop.offer.find(name);
  if (!found.ok) return failedResult(found.trouble.message, found.trouble.hint);
  if (found.value === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${name}"`);
  return runCall(shop, desk, { tool: found.value.tool.name, args }, ctx);
}

async function runCall(
  { house, plan: { allow, yolo, clientModel } }: Shop,
  desk: Desk,
  wanted: { readonly tool: string; readonly args: JsonObject },
  ctx: ServerContext,
): Promise<Answer> {
  const request = JSON.stringify([wanted.tool, wanted.args]);
  const held = takeHeld(desk, ctx, request);
  if (held !== undefined) return resumeWork(desk, ctx, held);
  if (desk.visitor.isFull()) return tooMuch();
  const session = await desk.visitor.session("calls");
  if (!session.ok) return failedResult(session.trouble.message, session.trouble.hint);
  const call = { sessionId: session.value, ...wanted, caller: desk.caller, allow, yolo };
  const lends = clientModel && desk.canSample;
  return serveWork(desk, ctx, callTool(house, { ...call, canAnswer: desk.canAnswer, lends }), request);
}

/** A read is a call of the server's tool for it: judged, asked about and written down like any. */
export async function readFor(
  shop: Shop,
  desk: Desk,
  { name, readTool }: PassedServer,
  uri: string,
  ctx: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult> {
  if (readTool === "") {
    const message = `the MCP server "${name}" has a tool read_resource of its own, so its resources cannot be read`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }
  const answer = await runCall(shop, desk, { tool: readTool, args: { uri, whole: true } }, ctx);
  if (isInputRequiredResult(answer)) return answer;
  const contents = readContents(answer);
  if (contents !== undefined) return contents;
  const said = answer.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  const text =
    answer.isError === true ? said : `what came of reading it is no resource: ${shorten(said, REFUSAL_CHARS)}`;
  if (answer._meta?.["clawd/category"] === "not_found") throw new ResourceNotFoundError(uri, text);
  throw new ProtocolError(ProtocolErrorCode.InternalError, text);
}

/** Slash commands act past the policy, as their owner's own hand: a model's words are not that. */
const SLASH_COMMAND = /^\/[a-zA-Z][a-zA-Z0-9_-]*(?:\s|$)/;

/** Says words to an agent; its answer is the result. */
export async function sayFor(
  { allow, yolo }: ServePlan,
  desk: Desk,
  { text, session: named }: Readonly<Record<string, unknown>>,
  ctx: ServerContext,
): Promise<Answer> {
  const request = JSON.stringify([SAY_TOOL.name, text, named]);
  const held = takeHeld(desk, ctx, request);
  if (held !== undefined) return resumeWork(desk, ctx, held);
  if (desk.visitor.isFull()) return tooMuch();
  if (typeof text !== "string" || text.trim() === "") return failedResult("clawd_say needs a text", undefined);
  if (SLASH_COMMAND.test(text)) {
    const hint = "say it in other words; the owner can offer a command as a prompt: claw mcp serve --prompt COMMAND";
    return failedResult("a text that begins with a slash command is the owner's to say", hint);
  }
  if (named !== undefined && typeof named !== "string") return failedResult("session must be an id", undefined);
  const session = named === undefined ? await desk.visitor.session("words") : { ok: true as const, value: named };
  if (!session.ok) return failedResult(session.trouble.message, session.trouble.hint);
  const message = { sessionId: session.value, text, allow, yolo, canAnswer: desk.canAnswer };
  return serveWork(desk, ctx, say(desk.house, message), request);
}

function tooMuch(): CallToolResult {
  return failedResult("this client has too much under way", "wait for some of it to end");
}
