import type { JsonObject } from "@bufbuild/protobuf";
import type { Completions, McpAdmin, McpResources } from "../../core/domain/admin.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { Adoption } from "../manifest/adopted-plugin.ts";
import { COMPLETE_ARGUMENT, FOLLOW_RESOURCES, LIST_RESOURCES } from "../mcp-bridge/bridge-settings.ts";

/** The server and its bridge have so long to list everything. */
const LIST_LIMIT_MS = 60_000;
/** A person is typing. */
const COMPLETE_LIMIT_MS = 20_000;
/** The most that the protocol allows at once. */
const COMPLETIONS_MAX = 100;
/** As the bridge names it to models of its server. */
const READ_TOOL = "read_resource";

/** The resources of servers, for programs that pass them on. */
export type ServerResources = Pick<McpAdmin, "resources" | "followResources" | "complete">;

/** @param pluginOf finds the plugin of a server that conversations in a folder have */
export function serverResources(
  pluginOf: (name: string, workspace: string) => Result<string>,
  adoption: Pick<Adoption, "command" | "follow" | "tools">,
): ServerResources {
  return {
    async resources(name, workspace, signal) {
      const plugin = pluginOf(name, workspace);
      if (!plugin.ok) return plugin;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(LIST_LIMIT_MS)]);
      const said = await adoption.command(plugin.value, LIST_RESOURCES, {}, limited);
      if (!said.ok) return said;
      const readTool = adoption.tools(plugin.value).find((tool) => tool.name === READ_TOOL)?.fullName ?? "";
      return readRows(said.value, name, readTool);
    },
    async complete(name, workspace, argument, signal) {
      const plugin = pluginOf(name, workspace);
      if (!plugin.ok) return plugin;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(COMPLETE_LIMIT_MS)]);
      const asked = { ...argument, others: { ...argument.others } };
      const said = await adoption.command(plugin.value, COMPLETE_ARGUMENT, asked, limited);
      return said.ok ? readCompletions(said.value, name) : said;
    },
    async *followResources(name, workspace, uris, signal) {
      const plugin = pluginOf(name, workspace);
      if (plugin.ok) yield* adoption.follow(plugin.value, FOLLOW_RESOURCES, { uris: [...uris] }, signal);
      else yield plugin;
    },
  };
}

function readRows(text: string, server: string, readTool: string): Result<McpResources> {
  const said = readSaid(text, server);
  if (!said.ok) return said;
  const { resources, templates, reads, subscribes } = said.value;
  const rows = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
  return ok({
    resources: rows(resources),
    templates: rows(templates),
    readTool: reads === true ? readTool : "",
    subscribes: subscribes === true,
  });
}

function readCompletions(text: string, server: string): Result<Completions> {
  const said = readSaid(text, server);
  if (!said.ok) return said;
  const { values, total, hasMore } = said.value;
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
  const isCount = typeof total === "number" && Number.isInteger(total) && total >= 0 && total <= 0xffff_ffff;
  return ok({
    values: texts.slice(0, COMPLETIONS_MAX),
    total: isCount ? total : undefined,
    hasMore: hasMore === true || texts.length > COMPLETIONS_MAX,
  });
}

/** What the bridge says holds a stranger's words. */
function readSaid(text: string, server: string): Result<JsonObject> {
  try {
    const said: unknown = JSON.parse(text);
    if (isJsonObject(said)) return ok(said);
  } catch {
    // Not JSON: the same as JSON of another form.
  }
  return fail("invalid", `the bridge of the MCP server "${server}" speaks of its resources in a form of its own`, {
    hint: `claw plugin logs mcp_${server}`,
  });
}
