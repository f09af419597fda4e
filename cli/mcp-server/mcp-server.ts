import type { JsonObject } from "@bufbuild/protobuf";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { completeResource } from "./completion.ts";
import type { House } from "./house.ts";
import { describeTool, type Offer, type ToolChoice } from "./offered-tools.ts";
import { getPrompt, listPrompts, type PromptParts } from "./prompts.ts";
import { listResources, RESOURCE_TEMPLATES, readResource, sessionOf } from "./resources.ts";
import { SAY_TOOL, say } from "./say-tool.ts";
import { type Desk, resumeWork, serveWork, takeHeld } from "./serve-work.ts";
import { callTool } from "./tool-call.ts";
import type { Visitor } from "./visitor.ts";
import { openSessionWatch } from "./watch-sessions.ts";
import { failedResult } from "./work.ts";

/** What a client calls itself is shown to people and kept; it need not be long. */
const CALLER_LIMIT_CHARS = 100;

const INSTRUCTIONS =
  "clawd runs tools on this person's machine under their rules: a call may be refused, or wait until the person says yes. clawd_say talks to an agent that has these tools itself. Sessions and notes are resources: clawd://session/ID and clawd://note/ID.";

export type ServePlan = {
  readonly version: string;
  readonly workspace: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** Which slash commands are prompts; none for those of plugins. */
  readonly prompts: readonly ToolChoice[];
};

/** What all clients of one `claw mcp serve` share. */
export type Shop = { readonly house: House; readonly offer: Offer; readonly plan: ServePlan };

/** One server of the SDK's: for a connection, or, where there are none, for a request. */
export function mcpServer(
  { house, offer, plan }: Shop,
  era: Desk["era"],
  visitorFor: (client: string) => Visitor,
): Server {
  const isLegacy = era === "legacy";
  const server = new Server(
    { name: "clawd", title: "clawd", version: plan.version },
    {
      capabilities: {
        tools: {},
        prompts: {},
        resources: isLegacy ? { subscribe: true } : {},
        completions: {},
        ...(isLegacy ? { logging: {} } : {}),
      },
      instructions: INSTRUCTIONS,
    },
  );

  function desk(ctx: ServerContext, logsProgress: boolean): Desk {
    const caller = callerOf(server, ctx);
    const canAnswer = canAsk(server, ctx);
    return { house, visitor: visitorFor(caller), caller, era, canAnswer, logsProgress: logsProgress && isLegacy };
  }
  server.setRequestHandler("tools/list", async () => {
    const tools = await offer.list();
    if (!tools.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, tools.trouble.message);
    return { tools: [SAY_TOOL, ...tools.value.map(describeTool)] };
  });
  server.setRequestHandler("tools/call", ({ params }, ctx) => {
    const { name, arguments: args = {} } = params;
    return name === SAY_TOOL.name
      ? sayFor(plan, desk(ctx, false), args, ctx)
      : callFor({ house, offer, plan }, desk(ctx, true), { name, args: args as JsonObject }, ctx);
  });
  server.setRequestHandler("resources/list", ({ params }) => listResources(house, plan.workspace, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...RESOURCE_TEMPLATES] }));
  server.setRequestHandler("resources/read", ({ params }, ctx) =>
    readResource(house, plan.workspace, params.uri, ctx.mcpReq.signal),
  );
  const prompts: PromptParts = { house, workspace: plan.workspace, choices: plan.prompts };
  server.setRequestHandler("prompts/list", () => listPrompts(prompts));
  server.setRequestHandler("prompts/get", ({ params }, ctx) => getPrompt(prompts, desk(ctx, false).visitor, params));
  server.setRequestHandler("completion/complete", ({ params }) => completeResource(house, plan.workspace, params));
  if (isLegacy) serveSubscriptions(server, house);
  return server;
}

function serveSubscriptions(server: Server, house: House): void {
  const watch = openSessionWatch(house, (sessionId) => {
    // A client that went away needs no news.
    server.sendResourceUpdated({ uri: `clawd://session/${sessionId}` }).catch(() => undefined);
  });
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    const sessionId = sessionOf(uri);
    // A note never changes: what takes its place is another.
    if (sessionId === undefined && !uri.startsWith("clawd://note/")) throw new ResourceNotFoundError(uri);
    if (sessionId !== undefined && !watch.add(sessionId)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "this client follows too many sessions; unsubscribe first",
      );
    }
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    watch.remove(sessionOf(uri) ?? "");
    return {};
  });
  const before = server.onclose;
  server.onclose = () => {
    watch.close();
    before?.();
  };
}

/** Clients that know no connection say with each request who they are and what they can do; whatever they say is read as a stranger's. */
function callerOf(server: Server, ctx: ServerContext): string {
  const said = envelopeOf(ctx, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  const { name, version }: { name?: unknown; version?: unknown } = said ?? {};
  const words = [name, version].filter((word) => typeof word === "string").join(" ");
  return `mcp:${words === "" ? "unknown" : words}`.trim().slice(0, CALLER_LIMIT_CHARS);
}

function canAsk(server: Server, ctx: ServerContext): boolean {
  const said = envelopeOf(ctx, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  return said !== undefined && "elicitation" in said && said.elicitation !== undefined;
}

function envelopeOf({ mcpReq: { envelope } }: ServerContext, key: string): object | undefined {
  const said: unknown = new Map<string, unknown>(Object.entries(envelope ?? {})).get(key);
  return typeof said === "object" && said !== null ? said : undefined;
}

type Call = { readonly name: string; readonly args: JsonObject };
type Answer = CallToolResult | InputRequiredResult;

async function callFor(
  { house, offer, plan }: Shop,
  desk: Desk,
  { name, args }: Call,
  ctx: ServerContext,
): Promise<Answer> {
  const request = JSON.stringify([name, args]);
  const held = takeHeld(desk, ctx, request);
  if (held !== undefined) return resumeWork(desk, ctx, held);
  if (desk.visitor.isFull()) return tooMuch();
  const found = await offer.find(name);
  if (!found.ok) return failedResult(found.trouble.message, found.trouble.hint);
  if (found.value === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${name}"`);
  const session = await desk.visitor.session("calls");
  if (!session.ok) return failedResult(session.trouble.message, session.trouble.hint);
  const { allow, yolo } = plan;
  const call = { sessionId: session.value, tool: found.value.tool.name, args, caller: desk.caller, allow, yolo };
  return serveWork(desk, ctx, callTool(house, { ...call, canAnswer: desk.canAnswer }), request);
}

/** Slash commands act past the policy, as their owner's own hand: a model's words are not that. */
const SLASH_COMMAND = /^\/[a-zA-Z][a-zA-Z0-9_-]*(?:\s|$)/;

async function sayFor(
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
