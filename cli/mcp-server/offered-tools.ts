import type { Tool } from "@modelcontextprotocol/server";
import { SessionService, type ToolDescription } from "../../proto/gen/clawd/v1/session_pb.ts";
import { fail, ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";

/** One `--tool` or `--prompt`: which tools or commands are offered, and under which other name a single one. */
export type ToolChoice = { readonly pattern: string; readonly shownAs: string | undefined };

/** Reads "read", "plugin_*" or "look=read". */
export function readToolChoice(written: string, flag: "tool" | "prompt" = "tool"): Result<ToolChoice> {
  const at = written.indexOf("=");
  const pattern = written.slice(at + 1);
  const shownAs = at < 0 ? undefined : written.slice(0, at);
  if (!/^[A-Za-z0-9_.*-]{1,128}$/.test(pattern) || (shownAs !== undefined && pattern.includes("*"))) {
    const hint = `write --${flag} NAME, --${flag} "plugin_*" or --${flag} OTHER=NAME`;
    return fail("usage", `"${written}" names no ${flag}s`, hint);
  }
  if (shownAs !== undefined && !/^[A-Za-z0-9_.-]{1,64}$/.test(shownAs)) {
    return fail("usage", `"${shownAs}" is no name for a ${flag}`, "letters, digits, _ . and -, 64 at most");
  }
  return ok({ pattern, shownAs });
}

/** A tool of the daemon's and the name that clients call it by. */
export type OfferedTool = { readonly shownAs: string; readonly tool: ToolDescription };

export type Offer = {
  list(): Promise<Result<readonly OfferedTool[]>>;
  /** The tool that is offered under this name; undefined for none. */
  find(name: string): Promise<Result<OfferedTool | undefined>>;
};

/** Without choices: all tools but those of other servers of this protocol, which a client has itself if it wants them. */
export function openOffer(house: House, workspace: string, choices: readonly ToolChoice[]): Offer {
  let last: readonly OfferedTool[] = [];
  async function list(): Promise<Result<readonly OfferedTool[]>> {
    const listed = await house.read(SessionService.method.listTools, { workspace });
    if (!listed.ok) return listed;
    last = listed.value.tools.flatMap((tool) => shownNames(tool, choices).map((shownAs) => ({ shownAs, tool })));
    return ok(last);
  }
  return {
    list,
    async find(name) {
      const known = last.find(({ shownAs }) => shownAs === name);
      if (known !== undefined) return ok(known);
      const listed = await list();
      return listed.ok ? ok(listed.value.find(({ shownAs }) => shownAs === name)) : listed;
    },
  };
}

/** The names that a tool or a command is offered under. */
export function shownNames(
  { name, category }: Pick<ToolDescription, "name" | "category">,
  choices: readonly ToolChoice[],
): readonly string[] {
  if (choices.length === 0) return category === "mcp" ? [] : [name];
  return [...new Set(choices.filter(({ pattern }) => matches(pattern, name)).map(({ shownAs }) => shownAs ?? name))];
}

/** `*` stands for any run of characters. Matched piece by piece, in time that grows with the name alone. */
export function matches(pattern: string, name: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  const last = pieces.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

export function describeTool({ shownAs, tool }: OfferedTool): Tool {
  const { description, input = {}, category, rerunSafe } = tool;
  const readOnlyHint = category === "file_read" || category === "memory_read";
  return {
    name: shownAs,
    description,
    inputSchema: { ...input, type: "object" },
    annotations: { readOnlyHint, idempotentHint: rerunSafe, openWorldHint: !category.startsWith("file_") },
  };
}
