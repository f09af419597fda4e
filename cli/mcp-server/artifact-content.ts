import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Artifact, ToolCallEnded } from "../../proto/gen/clawd/v1/event_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { fail, ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";

/** The most bytes that one result or one resource brings along; beyond it a result has only the names. */
export const BYTES_LIMIT = 8 * 1024 * 1024;
const TEXTUAL = /^text\/|[/+](?:json|xml|yaml)$/i;

type Content = CallToolResult["content"];
export type Bytes = { readonly mimeType: string; readonly bytes: Buffer };

/** All bytes of an artifact that a call of the session named. */
export async function readArtifact(
  house: House,
  sessionId: string,
  artifactId: string,
  signal: AbortSignal,
): Promise<Result<Bytes>> {
  const pieces: Uint8Array[] = [];
  const read = { mimeType: "", sizeBytes: 0 };
  for await (const item of house.stream(SessionService.method.readArtifact, { sessionId, artifactId }, signal)) {
    if (!item.ok) return item;
    const { data, mimeType } = item.value;
    read.mimeType = mimeType;
    read.sizeBytes += data.length;
    if (read.sizeBytes > BYTES_LIMIT) return fail("refused", `artifact ${artifactId} is too large to be given out`);
    pieces.push(data);
  }
  if (signal.aborted) return fail("refused", `artifact ${artifactId} was not read to its end`);
  return ok({ mimeType: read.mimeType, bytes: Buffer.concat(pieces) });
}

/** What a call gave: its text, and where that names an artifact, what the artifact is. */
export async function resultContent(
  house: House,
  sessionId: string,
  { output, artifacts }: Pick<ToolCallEnded, "output" | "artifacts">,
  signal: AbortSignal,
): Promise<Content> {
  const content: Content = [];
  let left = BYTES_LIMIT;
  let from = 0;
  for (const { artifact, start, end } of placesOf(output, artifacts)) {
    if (artifact.sizeBytes > left) continue;
    const read = await readArtifact(house, sessionId, artifact.artifactId, signal);
    // Its plugin may be gone by now; its name stays where it stood.
    if (!read.ok) continue;
    left -= read.value.bytes.length;
    pushText(content, output.slice(from, start));
    content.push(contentOf(artifactUri(sessionId, artifact.artifactId), read.value));
    from = end;
  }
  pushText(content, output.slice(from));
  return content.length === 0 ? [{ type: "text", text: output }] : content;
}

type Place = { readonly artifact: Artifact; readonly start: number; readonly end: number };

/** Where a text names artifacts, in its order, with the brackets that the daemon writes around a name. */
function placesOf(output: string, artifacts: readonly Artifact[]): readonly Place[] {
  const opening = "[artifact ";
  const places = artifacts.flatMap((artifact): readonly Place[] => {
    const start = output.indexOf(opening + artifact.artifactId);
    const end = start < 0 ? -1 : output.indexOf("]", start + opening.length);
    return end < 0 ? [] : [{ artifact, start, end: end + 1 }];
  });
  return places
    .sort((left, right) => left.start - right.start)
    .filter(({ start }, at, all) => all[at - 1]?.start !== start);
}

function pushText(content: Content, text: string): void {
  const line = text.replace(/^\n|\n$/g, "");
  if (line !== "") content.push({ type: "text", text: line });
}

function contentOf(uri: string, { mimeType, bytes }: Bytes): Content[number] {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data: bytes.toString("base64") };
  if (mimeType.startsWith("audio/")) return { type: "audio", mimeType, data: bytes.toString("base64") };
  return { type: "resource", resource: bytesResource(uri, { mimeType, bytes }) };
}

/** Text as text where it is some, all else in base64. */
export function bytesResource(uri: string, { mimeType, bytes }: Bytes) {
  const text = TEXTUAL.test(mimeType) ? bytes.toString("utf8") : "\uFFFD";
  // What is not UTF-8 would not come out as it went in.
  return text.includes("\uFFFD") ? { uri, mimeType, blob: bytes.toString("base64") } : { uri, mimeType, text };
}

function artifactUri(sessionId: string, artifactId: string): string {
  return `clawd://artifact/${sessionId}/${artifactId}`;
}
