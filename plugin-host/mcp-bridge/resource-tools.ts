import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Host, OfferedTool, ResultPart, ToolContext } from "../sdk/plugin.ts";
import { classified } from "./failure-class.ts";
import type { McpSession } from "./mcp-session.ts";
import { DEFAULT_MIME, isJsonObject, MAX_ANSWER_BYTES, MAX_ARTIFACTS, resourceParts } from "./result-parts.ts";

/** How many resources are shown at once; the others come with the name that the list ends with. */
const MAX_LISTED = 200;
const LINE_CHARS = 500;
/** A whole answer that is longer goes as an artifact, UTF-16 code units: an output may have 100,000, and is cut in its middle. */
const MAX_READABLE_CHARS = 64 * 1024;

/** The two tools by which models get at the resources of a server that has some, by their names. */
export const RESOURCE_TOOLS: Readonly<Record<string, Omit<OfferedTool, "name" | "timeoutMs">>> = {
  list_resources: {
    description:
      "Lists the resources of this server, which read_resource of the same server reads: a line for each, with its address. Templates stand at the end; put something in the place of what is in braces.",
    inputSchema: {
      type: "object",
      properties: { contains: { type: "string", description: "only those whose line contains this" } },
    },
  },
  read_resource: {
    description: "Reads a resource of this server by its address.",
    inputSchema: {
      type: "object",
      properties: { uri: { type: "string", description: "as list_resources shows it, or made from a template" } },
      required: ["uri"],
    },
  },
};

type Waiting = Pick<ToolContext, "signal">;

/** What there is to read, a line each. Throws what the library throws. */
export async function listResources(session: McpSession, { contains }: JsonObject, waiting: Waiting): Promise<string> {
  const wanted = typeof contains === "string" ? contains.toLowerCase() : "";
  const [resources, templates] = [
    await session.list("resources/list", "resources", waiting),
    await session.list("resources/templates/list", "resourceTemplates", waiting),
  ];
  const lines = [
    ...resources.map((one) => resourceLine(one, one.uri)),
    ...templates.map((one) => `template ${resourceLine(one, one.uriTemplate)}`),
  ].filter((line) => line.toLowerCase().includes(wanted));
  if (lines.length === 0) return wanted === "" ? "there are no resources" : "there is no such resource";
  const left = lines.length - MAX_LISTED;
  const more = left > 0 ? [`… and ${left} more: say what their line contains`] : [];
  return [...lines.slice(0, MAX_LISTED), ...more].join("\n");
}

function resourceLine({ name, title, description, mimeType }: JsonObject, address: JsonValue | undefined): string {
  const label = typeof title === "string" ? title : typeof name === "string" ? name : "";
  const kind = typeof mimeType === "string" ? ` (${mimeType})` : "";
  const about = typeof description === "string" ? `: ${description}` : "";
  return `${String(address ?? "")} ${label}${kind}${about}`.replaceAll(/\s+/g, " ").trim().slice(0, LINE_CHARS);
}

/**
 * Its texts as they are, its bytes as artifacts; with `whole`, which programs ask for, as the server said it. Throws what the library
 * throws.
 */
export async function readResource(
  session: McpSession,
  { uri, whole }: JsonObject,
  host: Host,
  waiting: Waiting,
): Promise<readonly ResultPart[]> {
  const { contents } = await session.ask("resources/read", { uri: String(uri ?? "") }, waiting);
  if (whole === true) return wholeAnswer(Array.isArray(contents) ? contents : [], host);
  const parts = await resourceParts(Array.isArray(contents) ? contents : [], host);
  return parts.length === 0 ? ["it is empty"] : parts;
}

/**
 * A line of JSON that hooks can read, and an artifact behind it for each blob, which the line has by its number (`artifact`, from 0);
 * all as one artifact where that is too much.
 */
async function wholeAnswer(contents: readonly JsonValue[], host: Host): Promise<readonly ResultPart[]> {
  const answer = Buffer.from(JSON.stringify({ contents }));
  if (answer.byteLength > MAX_ANSWER_BYTES)
    throw classified("invalid_input", `it is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`, "");
  const blobs: { readonly bytes: Uint8Array; readonly mimeType: string }[] = [];
  const rows = contents.map((content) => {
    if (!isJsonObject(content) || typeof content.blob !== "string") return content;
    const { blob, ...others } = content;
    const kind = typeof content.mimeType === "string" ? content.mimeType : "";
    blobs.push({ bytes: Buffer.from(blob, "base64"), mimeType: kind === "" ? DEFAULT_MIME : kind });
    return { ...others, artifact: blobs.length - 1 };
  });
  const line = JSON.stringify({ contents: rows });
  if (line.length > MAX_READABLE_CHARS || blobs.length > MAX_ARTIFACTS)
    return [{ artifact: (await host.artifacts.write(answer, { mimeType: "application/json" })).id }];
  const parts: ResultPart[] = [line];
  for (const { bytes, mimeType } of blobs)
    parts.push({ artifact: (await host.artifacts.write(bytes, { mimeType })).id });
  return parts;
}
