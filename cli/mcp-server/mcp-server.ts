import type { JsonObject } from "@bufbuild/protobuf";
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import { callFor, readFor, sayFor } from "./asked-work.ts";
import { callerOf, can } from "./caller.ts";
import { completeResource } from "./completion.ts";
import type { ListNews } from "./list-news.ts";
import { describeTool } from "./offered-tools.ts";
import { getPrompt, listPrompts, type PromptParts } from "./prompts.ts";
import { listResources, listTemplates, type ResourceParts, readResource } from "./resources.ts";
import { SAY_TOOL } from "./say-tool.ts";
import type { Desk } from "./serve-work.ts";
import type { Shop } from "./shop.ts";
import { serveSubscriptions } from "./subscriptions.ts";
import type { Visitor } from "./visitor.ts";

const INSTRUCTIONS =
  "clawd runs tools on this person's machine under their rules: a call may be refused, or wait until the person says yes. clawd_say talks to an agent that has these tools itself. Sessions and notes are resources: clawd://session/ID and clawd://note/ID.";

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
    const canSample = can(server, ctx, "sampling");
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
  server.setRequestHandler("completion/complete", ({ params }) => completeResource(resources, params));
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
