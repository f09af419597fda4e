import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Host, ResultPart } from "../sdk/plugin.ts";

const DEFAULT_MIME = "application/octet-stream";

/** What a server answered to tools/call; every field is a stranger's. */
export type CallAnswer = JsonObject;

export function isErrorAnswer(answer: CallAnswer): boolean {
  return answer.isError === true;
}

/**
 * The parts of an answer in their order: texts as they are, images, sounds and other bytes as artifacts, links as a note. An
 * answer without anything that can be read is given as its JSON.
 */
export async function partsOf(answer: CallAnswer, host: Host): Promise<readonly ResultPart[]> {
  const content = Array.isArray(answer.content) ? answer.content : [];
  const parts: ResultPart[] = [];
  for (const block of content) {
    const part = await partOf(block, host);
    if (part !== undefined) parts.push(part);
  }
  const isReadable = parts.some((part) => typeof part !== "string" || part !== "");
  return isReadable ? parts : [JSON.stringify(answer)];
}

/** What a failed call says, for its message. */
export function textOf(answer: CallAnswer): string {
  const content = Array.isArray(answer.content) ? answer.content : [];
  const texts = content.flatMap((block) => {
    const text = isObject(block) && block.type === "text" ? block.text : undefined;
    return typeof text === "string" && text !== "" ? [text] : [];
  });
  return texts.length === 0 ? JSON.stringify(answer) : texts.join("\n");
}

async function partOf(block: JsonValue, host: Host): Promise<ResultPart | undefined> {
  if (!isObject(block)) return undefined;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? block.text : undefined;
    case "image":
    case "audio":
      return keepBytes(block.data, block.mimeType, host);
    case "resource":
      return isObject(block.resource) ? resourcePart(block.resource, host) : undefined;
    case "resource_link":
      return `[resource ${String(block.uri ?? "")}${block.name === undefined ? "" : `, ${String(block.name)}`}]`;
    default:
      // A kind of a later release: nothing is left out silently.
      return JSON.stringify(block);
  }
}

/** The contents of one resource: its text under its address, or its bytes. */
export async function resourcePart(
  { uri, text, blob, mimeType }: JsonObject,
  host: Host,
): Promise<ResultPart | undefined> {
  if (typeof text === "string") return `[resource ${String(uri ?? "")}]\n${text}`;
  return keepBytes(blob, mimeType, host);
}

async function keepBytes(
  base64: JsonValue | undefined,
  mimeType: JsonValue | undefined,
  host: Host,
): Promise<ResultPart | undefined> {
  if (typeof base64 !== "string") return undefined;
  const mime = typeof mimeType === "string" && mimeType !== "" ? mimeType : DEFAULT_MIME;
  const { id } = await host.artifacts.write(Buffer.from(base64, "base64"), { mimeType: mime });
  return { artifact: id };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
