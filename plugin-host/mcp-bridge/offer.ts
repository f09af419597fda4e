import type { OfferedCommand, OfferedTool } from "../sdk/plugin.ts";
import { isHouseCall } from "./house-calls.ts";
import { isObject } from "./json-object.ts";
import { isLoginCall } from "./login.ts";
import type { McpSession } from "./mcp-session.ts";
import { type Prompt, readPrompt, takenArguments } from "./prompts.ts";
import { RESOURCE_TOOLS } from "./resource-tools.ts";

/** How deep the schema of a tool may be nested. */
const MAX_SCHEMA_DEPTH = 64;

/** What a server has for people and models. */
export type ServerOffer = {
  readonly tools: readonly OfferedTool[];
  /** Names of tools that are the bridge's own. */
  readonly resourceTools: ReadonlySet<string>;
  readonly commands: readonly OfferedCommand[];
  readonly prompts: ReadonlyMap<string, Prompt>;
};

/** Asks for all of it. A tool of the server's own keeps its name: then there is none of the bridge's under it. */
export async function offerOf(session: McpSession, callMs: number): Promise<ServerOffer> {
  const listed = await session.list("tools/list", "tools");
  const tools = listed.flatMap((tool): readonly OfferedTool[] => {
    const { name, description, title, inputSchema } = tool;
    if (typeof name !== "string" || isLoginCall(name) || isHouseCall(name)) return [];
    const words = typeof description === "string" ? description : typeof title === "string" ? title : "";
    const schema = isObject(inputSchema) ? inputSchema : { type: "object" };
    if (isDeeper(schema, MAX_SCHEMA_DEPTH)) {
      // One that cannot be sent would take all others along.
      console.error(
        `warning: the tool ${JSON.stringify(name.slice(0, 64))} has a schema nested deeper than ${MAX_SCHEMA_DEPTH}`,
      );
      return [];
    }
    return [{ name, description: words, inputSchema: { type: "object", ...schema }, timeoutMs: callMs }];
  });
  const taken = new Set(tools.map(({ name }) => name));
  const own = session.has.resources ? Object.entries(RESOURCE_TOOLS).filter(([name]) => !taken.has(name)) : [];
  const prompts = new Map<string, Prompt>();
  for (const one of await session.list("prompts/list", "prompts")) {
    const prompt = readPrompt(one);
    if (prompt !== undefined) prompts.set(prompt.name, prompt);
  }
  return {
    tools: [...tools, ...own.map(([name, tool]) => ({ name, ...tool, timeoutMs: callMs }))],
    resourceTools: new Set(own.map(([name]) => name)),
    commands: [...prompts.values()].map(({ name, description, args }) => ({
      name,
      description,
      takes: takenArguments(args),
    })),
    prompts,
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}
