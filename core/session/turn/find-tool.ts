import type { Failure } from "../../domain/failure.ts";
import type { Tool } from "../../domain/tool.ts";

/** The tool with this name, or the one that serves it as an alias. */
export function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.aliases.includes(name));
}

export function unknownTool(tools: readonly Tool[], name: string): Failure {
  const hint = `the tools are: ${tools.map((tool) => tool.name).join(", ")}`;
  return { code: "not_found", message: `there is no tool "${name}"`, hint };
}
