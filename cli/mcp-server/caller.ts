import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** What a client calls itself is shown to people and kept; it need not be long. */
const CALLER_LIMIT_CHARS = 100;

/** Clients that know no connection say with each request who they are and what they can do; whatever they say is read as a stranger's. */
export function callerOf(server: Server, ctx: ServerContext): string {
  const said = envelopeOf(ctx, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  const { name, version }: { name?: unknown; version?: unknown } = said ?? {};
  const words = [name, version].filter((word) => typeof word === "string").join(" ");
  return `mcp:${words === "" ? "unknown" : words}`.trim().slice(0, CALLER_LIMIT_CHARS);
}

/** Whether the client says that it can do that. */
export function can(server: Server, ctx: ServerContext, what: "elicitation" | "sampling"): boolean {
  const said = envelopeOf(ctx, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  return new Map<string, unknown>(Object.entries(said ?? {})).get(what) !== undefined;
}

function envelopeOf({ mcpReq: { envelope } }: ServerContext, key: string): object | undefined {
  const said: unknown = new Map<string, unknown>(Object.entries(envelope ?? {})).get(key);
  return typeof said === "object" && said !== null ? said : undefined;
}
