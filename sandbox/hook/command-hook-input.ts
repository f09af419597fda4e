import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { HookEvent } from "../../core/domain/hook.ts";
import { theirInput, theirToolName } from "./claude-tools.ts";

function ofTool({ value, workspace }: HookEvent): { readonly tool: string; readonly input: JsonObject } {
  const tool = typeof value.tool === "string" ? value.tool : "";
  const args = value.args;
  const isArgs = typeof args === "object" && args !== null && !Array.isArray(args);
  return { tool, input: isArgs ? theirInput(tool, args, workspace) : {} };
}

function ofMoment(name: string, event: HookEvent): JsonObject {
  const { value } = event;
  switch (name) {
    case "PreToolUse":
    case "PostToolUse": {
      const { tool, input } = ofTool(event);
      const response: JsonObject =
        name === "PostToolUse" ? { tool_response: { output: value.output ?? "", status: value.status ?? "" } } : {};
      return { tool_name: theirToolName(tool), tool_input: input, tool_use_id: event.callId, ...response };
    }
    case "UserPromptSubmit":
      return { prompt: value.text ?? "" };
    case "SessionStart":
      return { source: "startup", model: value.model ?? "" };
    case "SessionEnd":
      return { reason: value.reason ?? "other" };
    case "Stop":
      return { stop_hook_active: false, last_assistant_message: value.text ?? "" };
    default:
      return {};
  }
}

/**
 * What a command of the Claude Code format reads from its standard input. There is no transcript in that format, so its
 * path is empty.
 */
export function commandInput(name: string, event: HookEvent): JsonValue {
  return {
    session_id: event.sessionId,
    transcript_path: "",
    cwd: event.workspace,
    permission_mode: "default",
    hook_event_name: name,
    ...ofMoment(name, event),
  };
}
