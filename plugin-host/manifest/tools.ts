import type { JsonObject } from "@bufbuild/protobuf";
import { ok, type Result } from "../../core/domain/failure.ts";
import type { ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { Reject } from "./rejection.ts";
import { MAX_TOOL_NAME_CHARS, pluginToolStyle } from "./tool-style.ts";

const MAX_TOOLS = 128;
export const MAX_TIMEOUT_MS = 24 * 60 * 60_000;
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/;

export type PluginTool = {
  /** As the plugin calls it. */
  readonly name: string;
  /** As the model calls it: plugin_<plugin>_<tool>. */
  readonly fullName: string;
  readonly description: string;
  readonly input: JsonObject;
  readonly rerun: "safe" | "unsafe";
  readonly timeoutMs: number;
  /** Names its definition, for a tool that was offered while the plugin ran; empty for one of the manifest. */
  readonly edition: string;
  /** Why a person is asked about each call; empty for no reason of its own. */
  readonly unsettled: string;
};

export function judgeTools(
  plugin: string,
  declared: readonly ToolDeclaration[],
  reject: Reject,
): Result<readonly PluginTool[]> {
  if (declared.length > MAX_TOOLS) return reject("tools", `has more than ${MAX_TOOLS} entries`);
  const tools: PluginTool[] = [];
  for (const [index, one] of declared.entries()) {
    const judged = judgeTool(plugin, one, `tools[${index}]`, reject);
    if (!judged.ok) return judged;
    if (tools.some(({ name }) => name === one.name))
      return reject(`tools[${index}].name`, `"${one.name}" stands there twice`, "give each tool a name of its own");
    tools.push(judged.value);
  }
  return ok(tools);
}

function judgeTool(plugin: string, declared: ToolDeclaration, at: string, reject: Reject): Result<PluginTool> {
  if (!TOOL_NAME.test(declared.name)) {
    return reject(
      `${at}.name`,
      `${JSON.stringify(declared.name)} must be a letter, then letters, digits or underscores`,
    );
  }
  const fullName = pluginToolStyle(plugin).prefix + declared.name;
  if (fullName.length > MAX_TOOL_NAME_CHARS) {
    return reject(
      `${at}.name`,
      `makes "${fullName}", which is longer than ${MAX_TOOL_NAME_CHARS} characters`,
      "shorten the name of the tool or of the plugin",
    );
  }
  if (declared.description === "") return reject(`${at}.description`, "is missing: the model chooses by it");
  if (declared.inputSchema?.type !== "object")
    return reject(`${at}.inputSchema`, 'must be a JSON Schema of type "object"', 'write at least { "type": "object" }');
  if (declared.timeoutMs > MAX_TIMEOUT_MS) return reject(`${at}.timeoutMs`, `must be at most ${MAX_TIMEOUT_MS}`);
  return ok({
    name: declared.name,
    fullName,
    description: declared.description,
    input: declared.inputSchema,
    rerun: declared.rerunSafe ? "safe" : "unsafe",
    timeoutMs: declared.timeoutMs || DEFAULT_CALL_TIMEOUT_MS,
    edition: "",
    unsettled: "",
  });
}
