import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { type MemoryNote, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { SessionService, type SessionSummary } from "../../proto/gen/clawd/v1/session_pb.ts";
import { openTranscript } from "../transcript.ts";
import type { Trouble } from "../trouble.ts";
import { bytesResource, readArtifact } from "./artifact-content.ts";
import type { House } from "./house.ts";
import type { PassedResources } from "./passed-resources.ts";

const PAGE_ROWS = 50;
/** Notes that a client may page through; all others are found by the tools. */
const NOTES_MAX = 1_000;
/** Sessions whose ids are completed. */
const COMPLETED_SESSIONS = 1_000;
/** The most of a transcript that is given out, UTF-16 code units; its end counts. */
const TRANSCRIPT_LIMIT_CHARS = 1_000_000;
/** Behind the own ones come those that are passed on; their cursors begin with this. */
const PASSED = "p";
const ARTIFACT_URI = /^clawd:\/\/artifact\/([^/?#]+)\/([^/?#]+)$/;
const URI = /^clawd:\/\/(session|note)\/([^/?#]+)$/;

export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = [
  {
    name: "session",
    uriTemplate: "clawd://session/{id}",
    description: "What happened in a session",
    mimeType: "text/plain",
  },
  {
    name: "note",
    uriTemplate: "clawd://note/{id}",
    description: "A note of the long-term memory",
    mimeType: "text/plain",
  },
  {
    name: "artifact",
    uriTemplate: "clawd://artifact/{session}/{id}",
    description: "What a call gave as bytes; its result has the address",
  },
];

/** Whose resources are offered: clawd's own, and where servers were named, theirs. */
export type ResourceParts = {
  readonly house: House;
  readonly workspace: string;
  readonly passed: PassedResources | undefined;
};

/** The session that a resource is; undefined for anything else. */
export function sessionOf(uri: string): string | undefined {
  const [, kind, id] = URI.exec(uri) ?? [];
  return kind === "session" ? id : undefined;
}

/** Sessions, newest first, then notes, newest first, then what is passed on. The cursor is how many came before. */
export async function listResources(
  { house, workspace, passed }: ResourceParts,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  if (passed !== undefined && cursor?.startsWith(PASSED)) return listPassed(passed, readCursor(cursor.slice(1)));
  const from = readCursor(cursor);
  const until = from + PAGE_ROWS;
  const listed = await house.read(SessionService.method.listSessions, { limit: until + 1 });
  if (!listed.ok) throw refused(listed.trouble);
  const rows: Resource[] = listed.value.sessions.map(sessionResource);
  if (rows.length <= until) rows.push(...(await listNotes(house, workspace)).map(noteResource));
  const resources = rows.slice(from, until);
  if (rows.length > until) return { resources, nextCursor: String(until) };
  return { resources, ...(passed === undefined ? {} : { nextCursor: `${PASSED}0` }) };
}

async function listPassed(passed: PassedResources, from: number): Promise<ListResourcesResult> {
  const rows = (await passed.list()).flatMap(({ resources }) => resources);
  const until = from + PAGE_ROWS;
  return {
    resources: rows.slice(from, until),
    ...(rows.length > until ? { nextCursor: `${PASSED}${until}` } : {}),
  };
}

/** clawd's own, and those that are passed on. */
export async function listTemplates({ passed }: ResourceParts): Promise<ListResourceTemplatesResult> {
  const others = passed === undefined ? [] : (await passed.list()).flatMap(({ templates }) => templates);
  return { resourceTemplates: [...RESOURCE_TEMPLATES, ...others] };
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the cursor is none that this server gave out");
}

/** A memory that is turned off has no notes. */
async function listNotes(house: House, workspace: string): Promise<readonly MemoryNote[]> {
  const listed = await house.read(MemoryService.method.listNotes, { viewer: { workspace }, limit: NOTES_MAX });
  return listed.ok ? listed.value.notes : [];
}

/** Ids of sessions or notes, newest first. */
export async function resourceIds(house: House, workspace: string, kind: string): Promise<readonly string[]> {
  if (kind === "note") return (await listNotes(house, workspace)).map(({ memoryId }) => memoryId);
  const listed = await house.read(SessionService.method.listSessions, { limit: COMPLETED_SESSIONS });
  return listed.ok ? listed.value.sessions.map(({ sessionId }) => sessionId) : [];
}

export async function readResource(
  house: House,
  workspace: string,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const [, sessionId, artifactId] = ARTIFACT_URI.exec(uri) ?? [];
  if (sessionId !== undefined && artifactId !== undefined) {
    const read = await readArtifact(house, sessionId, artifactId, signal);
    if (read.ok) return { contents: [bytesResource(uri, read.value)] };
    throw read.trouble.kind === "refused" ? new ResourceNotFoundError(uri) : refused(read.trouble);
  }
  const [, kind = "", id = ""] = URI.exec(uri) ?? [];
  if (kind === "session")
    return { contents: [{ uri, mimeType: "text/plain", text: await readTranscript(house, uri, id) }] };
  if (kind !== "note") throw new ResourceNotFoundError(uri);
  const asked = { viewer: { workspace }, memoryIds: [id], all: true };
  const found = await house.read(MemoryService.method.listNotes, asked);
  if (!found.ok) throw refused(found.trouble);
  const [note] = found.value.notes;
  if (note === undefined) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: "text/plain", text: note.text }] };
}

async function readTranscript(house: House, uri: string, sessionId: string): Promise<string> {
  const transcript = openTranscript((_style, text) => text, { echoUser: true });
  let text = "";
  const signal = new AbortController().signal;
  for await (const item of house.stream(SessionService.method.subscribe, { sessionId }, signal)) {
    if (!item.ok) throw item.trouble.kind === "refused" ? new ResourceNotFoundError(uri) : refused(item.trouble);
    const { news } = item.value;
    if (news.case === "fault") throw refused(news.value);
    if (news.case !== "event") continue;
    const shown = transcript.event(news.value);
    for (const part of [shown.text, ...shown.notes.map((line) => `${line}\n`)]) {
      if (part !== "" && part !== "\n" && text !== "" && !text.endsWith("\n") && shown.notes.length > 0) text += "\n";
      text += part;
    }
    if (text.length > 2 * TRANSCRIPT_LIMIT_CHARS) text = text.slice(-TRANSCRIPT_LIMIT_CHARS);
  }
  return text.slice(-TRANSCRIPT_LIMIT_CHARS);
}

function sessionResource({ sessionId, title, changedAtMs }: SessionSummary): Resource {
  return {
    uri: `clawd://session/${sessionId}`,
    name: sessionId,
    mimeType: "text/plain",
    ...(title === "" ? {} : { title }),
    annotations: { lastModified: new Date(changedAtMs).toISOString() },
  };
}

function noteResource({ memoryId, text, atMs }: MemoryNote): Resource {
  const [line = ""] = text.split("\n", 1);
  return {
    uri: `clawd://note/${memoryId}`,
    name: memoryId,
    title: line.slice(0, 80),
    mimeType: "text/plain",
    annotations: { lastModified: new Date(atMs).toISOString() },
  };
}

function refused({ message }: Pick<Trouble, "message">): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, message);
}
