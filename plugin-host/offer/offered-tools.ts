import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { SlashArgument } from "../../core/domain/slash-command.ts";
import type { SlashCommandDeclaration, ToolDeclaration } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { findArgumentProblem, readArgument } from "../manifest/slash-arguments.ts";
import { fullToolName } from "../manifest/tool-style.ts";
import { DEFAULT_CALL_TIMEOUT_MS, MAX_TIMEOUT_MS, type PluginTool } from "../manifest/tools.ts";

const MAX_OFFERED_TOOLS = 512;
const MAX_OFFERED_COMMANDS = 256;
const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 16 * 1024;
/** Of all schemas together, JSON: each is sent to a model at every step. */
const MAX_SCHEMA_BYTES = 2 * 1024 * 1024;
const EDITION_DIGITS = 16;

/** A tool as its plugin described it while it ran. */
export type OfferedTool = Pick<PluginTool, "name" | "description" | "input" | "rerun" | "timeoutMs">;

/** What of an offer can be taken, each with its full name, and why the rest cannot. */
export type JudgedOffer = {
  readonly tools: readonly { readonly fullName: string; readonly tool: OfferedTool }[];
  /** In the order of the offer; empty for what was not taken. */
  readonly names: readonly string[];
  readonly problems: readonly string[];
};

/** Judges what a plugin offers: one tool that cannot be used takes none of the others away. */
export function judgeOffer(manifest: PluginManifest, declared: readonly ToolDeclaration[]): JudgedOffer {
  const taken = new Map(manifest.tools.map(({ fullName }) => [fullName, ""]));
  const tools: { fullName: string; tool: OfferedTool }[] = [];
  const problems: string[] = [];
  let schemaBytes = 0;
  const names = declared.map((one, index) => {
    const problem = findProblem(one, index);
    const input = one.inputSchema ?? {};
    schemaBytes += Buffer.byteLength(JSON.stringify(input));
    const fullName = fullToolName(manifest.toolStyle, one.name);
    const late = schemaBytes > MAX_SCHEMA_BYTES ? `comes beyond ${MAX_SCHEMA_BYTES / 1024 / 1024} MiB of schemas` : "";
    const twice = taken.has(fullName) ? `has the name of another of its tools, ${fullName}` : "";
    const why = problem || twice || late;
    if (why !== "") {
      problems.push(`the tool ${JSON.stringify(one.name.slice(0, MAX_NAME_CHARS))} ${why}`);
      return "";
    }
    taken.set(fullName, one.name);
    tools.push({ fullName, tool: offeredTool(one, input) });
    return fullName;
  });
  return { tools, names, problems };
}

function findProblem({ name, description, inputSchema, timeoutMs }: ToolDeclaration, index: number): string {
  if (index >= MAX_OFFERED_TOOLS) return `is one more than ${MAX_OFFERED_TOOLS}`;
  if (name === "" || name.length > MAX_NAME_CHARS) return `must have a name of 1 to ${MAX_NAME_CHARS} characters`;
  if (description.length > MAX_DESCRIPTION_CHARS)
    return `is described in more than ${MAX_DESCRIPTION_CHARS} characters`;
  if (inputSchema?.type !== "object") return 'has a schema that is not of type "object"';
  return timeoutMs > MAX_TIMEOUT_MS ? `may not take longer than ${MAX_TIMEOUT_MS} ms` : "";
}

function offeredTool({ name, description, rerunSafe, timeoutMs }: ToolDeclaration, input: JsonObject): OfferedTool {
  const rerun = rerunSafe ? "safe" : "unsafe";
  return { name, description, input, rerun, timeoutMs: timeoutMs || DEFAULT_CALL_TIMEOUT_MS };
}

/** A slash command as its plugin described it while it ran. */
export type OfferedCommand = {
  readonly name: string;
  readonly description: string;
  readonly takes: readonly SlashArgument[];
};

/** What of the commands of an offer can be taken, and why the rest cannot. */
export function judgeCommands(
  manifest: PluginManifest,
  declared: readonly SlashCommandDeclaration[],
): { readonly commands: readonly OfferedCommand[]; readonly problems: readonly string[] } {
  const taken = new Set(manifest.slashCommands.map(({ name }) => name));
  const commands: OfferedCommand[] = [];
  const problems: string[] = [];
  for (const [index, { name, description, arguments: takes }] of declared.entries()) {
    const fullName = fullToolName(manifest.toolStyle, name);
    const why =
      index >= MAX_OFFERED_COMMANDS
        ? `is one more than ${MAX_OFFERED_COMMANDS}`
        : name === "" || name.length > MAX_NAME_CHARS
          ? `must have a name of 1 to ${MAX_NAME_CHARS} characters`
          : description.length > MAX_DESCRIPTION_CHARS
            ? `is described in more than ${MAX_DESCRIPTION_CHARS} characters`
            : taken.has(fullName)
              ? `has the name of another of its commands, ${fullName}`
              : (findArgumentProblem(takes) ?? "");
    if (why === "") commands.push({ name, description, takes: takes.map(readArgument) });
    else problems.push(`the slash command ${JSON.stringify(name.slice(0, MAX_NAME_CHARS))} ${why}`);
    taken.add(fullName);
  }
  return { commands, problems };
}

/** Names a definition: what a model and a person read of a tool, and whose it is. */
export function editionOf(plugin: string, { name, description, input }: OfferedTool): string {
  const read = JSON.stringify([plugin, name, description, input]);
  return createHash("sha256").update(read).digest("hex").slice(0, EDITION_DIGITS);
}
