import type { McpAdmin, McpResources } from "../../core/domain/admin.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { Adoption } from "../manifest/adopted-plugin.ts";
import { FOLLOW_RESOURCES, LIST_RESOURCES } from "../mcp-bridge/bridge-settings.ts";

/** The server and its bridge have so long to list everything. */
const LIST_LIMIT_MS = 60_000;
/** As the bridge names it to models of its server. */
const READ_TOOL = "read_resource";

/** The resources of servers, for programs that pass them on. */
export type ServerResources = Pick<McpAdmin, "resources" | "followResources">;

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
    async *followResources(name, workspace, uris, signal) {
      const plugin = pluginOf(name, workspace);
      if (plugin.ok) yield* adoption.follow(plugin.value, FOLLOW_RESOURCES, { uris: [...uris] }, signal);
      else yield plugin;
    },
  };
}

/** What the bridge says holds a stranger's words. */
function readRows(text: string, server: string, readTool: string): Result<McpResources> {
  try {
    const said: unknown = JSON.parse(text);
    if (isJsonObject(said)) {
      const rows = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
      return ok({
        resources: rows(said.resources),
        templates: rows(said.templates),
        readTool: said.reads === true ? readTool : "",
        subscribes: said.subscribes === true,
      });
    }
  } catch {
    // Not JSON: the same as JSON of another form.
  }
  return fail("invalid", `the bridge of the MCP server "${server}" lists its resources in a form of its own`, {
    hint: `claw plugin logs mcp_${server}`,
  });
}
