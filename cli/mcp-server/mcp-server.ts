import type { JsonObject } from "@bufbuild/protobuf";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { completeResource } from "./completion.ts";
import { followResources } from "./follow-resources.ts";
import type { House } from "./house.ts";
import type { AskClient } from "./lend-model.ts";
import type { ListNews } from "./list-news.ts";
import { describeTool, type Offer, type ToolChoice } from "./offered-tools.ts";
import { type PassedResources, type PassedServer, readContents } from "./passed-resources.ts";
import { getPrompt, listPrompts, type PromptParts } from "./prompts.ts";
import { listResources, listTemplates, type ResourceParts, readResource, sessionOf } from "./resources.ts";
import { SAY_TOOL, say } from "./say-tool.ts";
import { type Desk, resumeWork, serveWork, takeHeld } from "./serve-work.ts";
import { callTool } from "./tool-call.ts";
import type { Visitor } from "./visitor.ts";
import { openSessionWatch } from "./watch-sessions.ts";
import { failedResult } from "./work.ts";

/** What a client calls itself is shown to people and kept; it need not be long. */
const CALLER_LIMIT_CHARS = 100;

/** How long a client's model, and the person who is asked about it, may take, milliseconds. */
const SAMPLING_LIMIT_MS = 10 * 60_000;

const INSTRUCTIONS =
  "clawd runs tools on this person's machine under their rules: a call may be refused, or wait until the person says yes. clawd_say talks to an agent that has these tools itself. Sessions and notes are resources: clawd://session/ID and clawd://note/ID.";

export type ServePlan = {
  readonly version: string;
  readonly workspace: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** True where tools that may ask a model ask that of a client that offers one. */
  readonly clientModel: boolean;
  /** Which slash commands are prompts; none for those of plugins. */
  readonly prompts: readonly ToolChoice[];
};

/** What all clients of one `claw mcp serve` share. */
export type Shop = {
  readonly house: House;
  readonly offer: Offer;
  readonly plan: ServePlan;
  /** Resources of other servers; undefined for none. */
  readonly passed: PassedResources | undefined;
  readonly news: ListNews;
};

/** One server of the SDK's: for a connection, or, where there are none, for a request. */
export function mcpServer(shop: Shop, era: Desk["era"], visitorFor: (client: string) => Visitor): Server {
  const { house, offer, plan, passed, news } = shop;
  const isLegacy = era === "legacy";
  const server = new Server(
    { name: "clawd", title: "clawd", version: plan.version },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, ...(isLegacy ? { subscribe: true } : {}) },
        completions: {},
        ...(isLegacy ? { logging: {} } : {}),
      },
      instructions: INSTRUCTIONS,
    },
  );

  function desk(ctx: ServerContext, logsProgress: boolean): Desk {
    const caller = callerOf(server, ctx);
    const canAnswer = can(server, ctx, "elicitation");
    // Others would have to come back with what their model said.
    const canSample = isLegacy && can(server, ctx, "sampling");
    return {
      house,
      visitor: visitorFor(caller),
      caller,
      era,
      canAnswer,
      canSample,
      logsProgress: logsProgress && isLegacy,
    };
  }
  const resources: ResourceParts = { house, workspace: plan.workspace, passed };
  server.setRequestHandler("tools/list", async () => {
    await news.watch();
    const tools = await offer.list();
    if (!tools.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, tools.trouble.message);
    return { tools: [SAY_TOOL, ...tools.value.map(describeTool)] };
  });
  server.setRequestHandler("tools/call", ({ params }, ctx) => {
    const { name, arguments: args = {} } = params;
    return name === SAY_TOOL.name
      ? sayFor(plan, desk(ctx, false), args, ctx)
      : callFor(shop, desk(ctx, true), { name, args: args as JsonObject }, ctx);
  });
  server.setRequestHandler("resources/list", async ({ params }) => {
    await news.watch();
    return listResources(resources, params?.cursor);
  });
  server.setRequestHandler("resources/templates/list", () => listTemplates(resources));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, ctx) => {
    const owner = await passed?.find(uri);
    return owner === undefined
      ? readResource(house, plan.workspace, uri, ctx.mcpReq.signal)
      : readFor(shop, desk(ctx, false), owner, uri, ctx);
  });
  const prompts: PromptParts = { house, workspace: plan.workspace, choices: plan.prompts };
  server.setRequestHandler("prompts/list", async () => {
    await news.watch();
    return listPrompts(prompts);
  });
  server.setRequestHandler("prompts/get", ({ params }, ctx) => getPrompt(prompts, desk(ctx, false).visitor, params));
  server.setRequestHandler("completion/complete", ({ params }) => completeResource(house, plan.workspace, params));
  if (isLegacy) serveSubscriptions(server, resources);
  return server;
}

/** Tells the client of a connection which lists changed, as long as that lasts. */
export function tellLists(server: Server, news: ListNews): void {
  const stopHearing = news.hear((list) => {
    const told =
      list === "tools"
        ? server.sendToolListChanged()
        : list === "prompts"
          ? server.sendPromptListChanged()
          : server.sendResourceListChanged();
    // A client that is not there yet, or not any more, needs no news.
    told.catch(() => undefined);
  });
  const before = server.onclose;
  server.onclose = () => {
    stopHearing();
    before?.();
  };
}

function serveSubscriptions(server: Server, { house, workspace, passed }: ResourceParts): void {
  const following = followResources(house, workspace, (uri) => {
    server.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  const watch = openSessionWatch(house, (sessionId) => {
    // A client that went away needs no news.
    server.sendResourceUpdated({ uri: `clawd://session/${sessionId}` }).catch(() => undefined);
  });
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const owner = await passed?.find(uri);
    if (owner !== undefined) {
      const followed = await following.add(owner.name, uri);
      if (!followed.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, followed.trouble.message);
      return {};
    }
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
    following.remove(uri);
    return {};
  });
  const before = server.onclose;
  server.onclose = () => {
    watch.close();
    following.close();
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

function can(server: Server, ctx: ServerContext, what: "elicitation" | "sampling"): boolean {
  const said = envelopeOf(ctx, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  return new Map<string, unknown>(Object.entries(said ?? {})).get(what) !== undefined;
}

function envelopeOf({ mcpReq: { envelope } }: ServerContext, key: string): object | undefined {
  const said: unknown = new Map<string, unknown>(Object.entries(envelope ?? {})).get(key);
  return typeof said === "object" && said !== null ? said : undefined;
}

type Call = { readonly name: string; readonly args: JsonObject };
type Answer = CallToolResult | InputRequiredResult;

async function callFor(shop: Shop, desk: Desk, { name, args }: Call, ctx: ServerContext): Promise<Answer> {
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
  const askClient: AskClient | undefined =
    clientModel && desk.canSample
      ? (params, signal) => ctx.mcpReq.requestSampling(params, { signal, timeout: SAMPLING_LIMIT_MS })
      : undefined;
  return serveWork(desk, ctx, callTool(house, { ...call, canAnswer: desk.canAnswer, askClient }), request);
}

/** A read is a call of the server's tool for it: judged, asked about and written down like any. */
async function readFor(
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
  const text = answer.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  if (answer._meta?.["clawd/category"] === "not_found") throw new ResourceNotFoundError(uri, text);
  throw new ProtocolError(ProtocolErrorCode.InternalError, text);
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
