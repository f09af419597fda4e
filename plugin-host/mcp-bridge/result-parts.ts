import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Host, ResultPart } from "../sdk/plugin.ts";

export const DEFAULT_MIME = "application/octet-stream";
/** Parts of one answer that are passed on; what is left of it is named in a line. */
export const MAX_PARTS = 512;
/** Of these, how many are kept as artifacts: each is a file, and an event of its own. */
export const MAX_ARTIFACTS = 32;
/** Texts and bytes of one answer together, bytes. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** What a failed call may say, characters: it is a message and no document. */
export const MAX_FAILURE_CHARS = 16 * 1024;

/** What a server answered to tools/call; every field is a stranger's. */
export type CallAnswer = JsonObject;

/** A block as it can be passed on; `kind` is what is left out where there is no room for it. */
type Piece =
  | { readonly kind: string; readonly text: string }
  | { readonly kind: string; readonly base64: string; readonly mimeType: string };

export function isErrorAnswer(answer: CallAnswer): boolean {
  return answer.isError === true;
}

/**
 * The parts of an answer in their order: texts as they are, images, sounds and other bytes as artifacts, links as a note. An
 * answer without anything that can be read is given as its JSON. What is more than the limits is counted in a last line.
 */
export async function partsOf(answer: CallAnswer, host: Host): Promise<readonly ResultPart[]> {
  const content = Array.isArray(answer.content) ? answer.content : [];
  const parts = await gather(content, pieceOf, host);
  const isReadable = parts.some((part) => typeof part !== "string" || part !== "");
  return isReadable ? parts : gather([answer], jsonPiece, host);
}

/** The contents of resources: their texts under their addresses, or their bytes, within the same limits. */
export function resourceParts(contents: readonly JsonValue[], host: Host): Promise<readonly ResultPart[]> {
  return gather(contents, (content) => (isJsonObject(content) ? resourcePiece(content) : undefined), host);
}

/** What a failed call says, for its message. */
export function textOf(answer: CallAnswer): string {
  const content = Array.isArray(answer.content) ? answer.content : [];
  let said = "";
  for (const block of content) {
    const text = isJsonObject(block) && block.type === "text" ? block.text : undefined;
    if (typeof text !== "string" || text === "") continue;
    said += said === "" ? text : `\n${text}`;
    if (said.length > MAX_FAILURE_CHARS) break;
  }
  const whole = said === "" ? JSON.stringify(answer) : said;
  return whole.length > MAX_FAILURE_CHARS ? `${whole.slice(0, MAX_FAILURE_CHARS)} …` : whole;
}

/** Takes one after the other as long as there is room, and counts the others. */
async function gather(
  blocks: readonly JsonValue[],
  read: (block: JsonValue) => Piece | undefined,
  host: Host,
): Promise<ResultPart[]> {
  const parts: ResultPart[] = [];
  const left = new Map<string, number>();
  let bytes = 0;
  let artifacts = 0;
  for (const block of blocks) {
    const piece = read(block);
    if (piece === undefined) continue;
    const isText = "text" in piece;
    const cost = isText ? Buffer.byteLength(piece.text) : Buffer.byteLength(piece.base64, "base64");
    const isFull = parts.length >= MAX_PARTS || (!isText && artifacts >= MAX_ARTIFACTS);
    if (isFull || bytes + cost > MAX_ANSWER_BYTES) {
      left.set(piece.kind, (left.get(piece.kind) ?? 0) + 1);
      continue;
    }
    bytes += cost;
    if (isText) parts.push(piece.text);
    else {
      artifacts += 1;
      const { id } = await host.artifacts.write(Buffer.from(piece.base64, "base64"), { mimeType: piece.mimeType });
      parts.push({ artifact: id });
    }
  }
  if (left.size > 0) parts.push(sayLeft(left));
  return parts;
}

function sayLeft(left: ReadonlyMap<string, number>): string {
  const counted = [...left].map(([kind, count]) => `${count} × ${kind}`).join(", ");
  const most = `${MAX_PARTS} parts, ${MAX_ARTIFACTS} artifacts and ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`;
  return `\n[left out of this answer: ${counted}; it may have ${most}]`;
}

function pieceOf(block: JsonValue): Piece | undefined {
  if (!isJsonObject(block)) return undefined;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? { kind: "text", text: block.text } : undefined;
    case "image":
    case "audio":
      return bytesPiece(block.type, block.data, block.mimeType);
    case "resource":
      return isJsonObject(block.resource) ? resourcePiece(block.resource) : undefined;
    case "resource_link": {
      const name = block.name === undefined ? "" : `, ${String(block.name)}`;
      return { kind: "link", text: `[resource ${String(block.uri ?? "")}${name}]` };
    }
    default:
      return jsonPiece(block);
  }
}

/** A kind of a later release, or nothing that can be read: nothing is left out silently. */
function jsonPiece(block: JsonValue): Piece {
  return { kind: "other", text: JSON.stringify(block) };
}

function resourcePiece({ uri, text, blob, mimeType }: JsonObject): Piece | undefined {
  if (typeof text === "string") return { kind: "resource", text: `[resource ${String(uri ?? "")}]\n${text}` };
  return bytesPiece("resource", blob, mimeType);
}

function bytesPiece(kind: string, base64: JsonValue | undefined, mimeType: JsonValue | undefined): Piece | undefined {
  if (typeof base64 !== "string") return undefined;
  return { kind, base64, mimeType: typeof mimeType === "string" && mimeType !== "" ? mimeType : DEFAULT_MIME };
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
