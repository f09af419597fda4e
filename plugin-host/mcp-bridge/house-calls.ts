import type { JsonObject } from "@bufbuild/protobuf";
import { COMPLETE_ARGUMENT, FOLLOW_RESOURCES, LIST_RESOURCES } from "./bridge-settings.ts";
import { classified } from "./failure-class.ts";
import type { McpSession } from "./mcp-session.ts";
import type { ResourceNews } from "./resource-news.ts";

/** All rows together, JSON: they go to the daemon in one message. */
const MAX_ROWS_BYTES = 3 * 1024 * 1024;
const MAX_FOLLOWED = 64;

/** What of a server's resources the daemon alone asks about, for programs that pass them on. */
export function isHouseCall(name: string): boolean {
  return name === LIST_RESOURCES || name === FOLLOW_RESOURCES || name === COMPLETE_ARGUMENT;
}

export type HouseCallParts = {
  readonly session: McpSession;
  readonly news: ResourceNews;
  /** Whether models have the tool that reads them. */
  readonly reads: boolean;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
};

/** Gives rows or completions as JSON; following gives nothing, and tells of each address that changed. Throws what the library throws. */
export async function runHouseCall(name: string, args: JsonObject, parts: HouseCallParts): Promise<string> {
  const { session, news, signal, tell } = parts;
  if (name === LIST_RESOURCES) return listRows(parts);
  if (name === COMPLETE_ARGUMENT) return complete(parts, args);
  const uris = (Array.isArray(args.uris) ? args.uris : []).filter((uri) => typeof uri === "string");
  if (uris.length > MAX_FOLLOWED) throw classified("invalid_input", `${MAX_FOLLOWED} resources are followed at most`);
  if (uris.length > 0 && !session.has.subscriptions)
    throw classified("not_found", "the server tells of no changes of its resources", "");
  await news.follow(session, uris, tell, signal);
  return "";
}

async function complete({ session, signal }: HouseCallParts, args: JsonObject): Promise<string> {
  if (!session.has.completions) return JSON.stringify({ values: [] });
  const { uriTemplate = "", argument = "", value = "", others = {} } = args;
  const params = {
    ref: { type: "ref/resource", uri: uriTemplate },
    argument: { name: argument, value },
    ...(Object.keys(Object(others)).length === 0 ? {} : { context: { arguments: others } }),
  };
  const { completion = {} } = await session.ask("completion/complete", params, { signal });
  return JSON.stringify(completion);
}

async function listRows({ session, reads, signal }: HouseCallParts): Promise<string> {
  let leftBytes = MAX_ROWS_BYTES;
  const fitting = (rows: readonly JsonObject[]) => {
    const kept = rows.filter((row) => {
      leftBytes -= Buffer.byteLength(JSON.stringify(row)) + 1;
      return leftBytes >= 0;
    });
    if (kept.length < rows.length)
      console.error(`warning: ${rows.length - kept.length} resources are too many to be passed on`);
    return kept;
  };
  const resources = fitting(await session.list("resources/list", "resources", { signal }));
  const templates = fitting(await session.list("resources/templates/list", "resourceTemplates", { signal }));
  return JSON.stringify({ resources, templates, reads, subscribes: session.has.subscriptions });
}
