import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult, ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";
import { matches } from "./offered-tools.ts";

/** Addresses of clawd's own resources begin like this; no server has others of that kind. */
const OWN_SCHEME = /^clawd:/i;

/** Lines about servers that are kept apart, so that each is said once. */
const COMPLAINTS_MAX = 1_000;

/** A server whose resources are passed on. */
export type PassedServer = {
  readonly name: string;
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  /** The tool that reads them; empty when nothing does. */
  readonly readTool: string;
  readonly subscribes: boolean;
};

/** The resources of other servers of this protocol, under their own addresses. */
export type PassedResources = {
  /** Asks all servers anew, in the order of their choice. */
  list(): Promise<readonly PassedServer[]>;
  /** Whose template it is, as it is listed; undefined for nobody's. */
  findTemplate(uriTemplate: string): Promise<PassedServer | undefined>;
  /** Whose resource it is; undefined for nobody's. */
  find(uri: string): Promise<PassedServer | undefined>;
  /** Names of the servers that are there now. */
  names(): Promise<Result<readonly string[]>>;
};

/** @param patterns names of servers; `*` stands for any run of characters. Of two with one address the first counts */
export function passResources(
  house: House,
  workspace: string,
  patterns: readonly string[],
  complain: (text: string) => void,
): PassedResources {
  let last: readonly PassedServer[] = [];
  const complained = new Set<string>();

  /** Each once: lists are asked for again and again. */
  function complainOnce(text: string): void {
    if (complained.has(text) || complained.size >= COMPLAINTS_MAX) return;
    complained.add(text);
    complain(text);
  }

  async function names(): Promise<Result<readonly string[]>> {
    if (patterns.length === 0) return ok([]);
    const listed = await house.read(McpService.method.listServers, { workspace });
    if (!listed.ok) return listed;
    // What waits for a yes has no plugin and does not run.
    const running = listed.value.servers.filter(({ plugin }) => plugin !== "").map(({ name }) => name);
    const chosen = patterns.map((pattern) => ({ pattern, fitting: running.filter((name) => matches(pattern, name)) }));
    for (const { pattern, fitting } of chosen) {
      if (fitting.length > 0) continue;
      complainOnce(`--resources ${pattern} fits no MCP server that runs here; claw mcp list has those that are there`);
    }
    return ok([...new Set(chosen.flatMap(({ fitting }) => fitting))]);
  }

  async function ask(name: string): Promise<readonly PassedServer[]> {
    const listed = await house.read(McpService.method.listResources, { name, workspace });
    if (!listed.ok) {
      complainOnce(`the resources of the MCP server "${name}" are left out: ${listed.trouble.message}`);
      return [];
    }
    const { resources, templates, readTool, subscribes } = listed.value;
    return [
      {
        ...{ name, readTool, subscribes },
        resources: resources.flatMap((row) => readRow<Resource>(row, "uri")),
        templates: templates.flatMap((row) => readRow<ResourceTemplateType>(row, "uriTemplate")),
      },
    ];
  }

  async function list(): Promise<readonly PassedServer[]> {
    const named = await names();
    if (!named.ok) {
      complainOnce(`the MCP servers cannot be listed: ${named.trouble.message}`);
      return last;
    }
    const asked = (await Promise.all(named.value.map(ask))).flat();
    const owners = new Map<string, string>();
    last = asked.map((server) => ({
      ...server,
      resources: server.resources.filter(({ uri }) => {
        const owner = owners.get(uri) ?? server.name;
        owners.set(uri, owner);
        if (owner !== server.name) complainOnce(`"${owner}" and "${server.name}" both have ${uri}; the first is read`);
        return owner === server.name;
      }),
    }));
    return last;
  }

  return {
    names,
    list,
    async findTemplate(uriTemplate) {
      const has = ({ templates }: PassedServer) => templates.some((one) => one.uriTemplate === uriTemplate);
      return last.find(has) ?? (await list()).find(has);
    },
    async find(uri) {
      if (patterns.length === 0 || OWN_SCHEME.test(uri)) return undefined;
      return ownerOf(last, uri) ?? ownerOf(await list(), uri);
    },
  };
}

/** Listed, or made from a template; what a single server does not list it may have still. */
function ownerOf(servers: readonly PassedServer[], uri: string): PassedServer | undefined {
  return (
    servers.find(({ resources }) => resources.some((one) => one.uri === uri)) ??
    servers.find(({ templates }) =>
      templates.some(({ uriTemplate }) => matches(uriTemplate.replaceAll(/\{[^{}]*\}/g, "*"), uri)),
    ) ??
    (servers.length === 1 ? servers[0] : undefined)
  );
}

/** A row of a stranger's, as far as clients can take it. */
function readRow<T>(row: JsonObject, address: "uri" | "uriTemplate"): readonly T[] {
  const uri = row[address];
  if (typeof uri !== "string" || OWN_SCHEME.test(uri)) return [];
  const { name, title, description, mimeType, size } = row;
  const texts = { title, description, mimeType };
  const kept = Object.entries(texts).filter(([, text]) => typeof text === "string");
  return [
    {
      ...Object.fromEntries(kept),
      ...(typeof size === "number" ? { size } : {}),
      [address]: uri,
      name: typeof name === "string" ? name : uri,
    } as T,
  ];
}

/**
 * What a call of the tool that reads gave: the server's own answer, as a text with its blobs behind it, or, where it is long, in
 * one artifact. Undefined for anything else, also when a hook left something else of it.
 */
export function readContents({ content, isError }: CallToolResult): ReadResourceResult | undefined {
  const [first, ...others] = content;
  if (isError === true || first === undefined) return undefined;
  const inArtifact = first.type === "resource" && "text" in first.resource ? first.resource.text : undefined;
  const line = first.type === "text" ? first.text : inArtifact;
  const blobs = others.map(base64Of);
  if (line === undefined || blobs.includes(undefined)) return undefined;
  try {
    const said = JSON.parse(line) as { contents?: unknown };
    if (!Array.isArray(said.contents)) return undefined;
    // A blob whose name was taken out moved those behind it.
    const named = said.contents.map(Object).filter((one) => typeof one.text !== "string" && one.artifact !== undefined);
    if (named.length !== blobs.length) return undefined;
    return { contents: said.contents.flatMap((one) => readContent(one, blobs)) };
  } catch {
    return undefined;
  }
}

function base64Of(part: CallToolResult["content"][number]): string | undefined {
  if (part.type === "image" || part.type === "audio") return part.data;
  if (part.type !== "resource") return undefined;
  return "blob" in part.resource ? part.resource.blob : Buffer.from(part.resource.text).toString("base64");
}

function readContent(said: unknown, blobs: readonly (string | undefined)[]): ReadResourceResult["contents"] {
  const { uri, mimeType, text, blob, artifact }: Readonly<Record<string, unknown>> = Object(said);
  if (typeof uri !== "string") return [];
  const kind = typeof mimeType === "string" ? { mimeType } : {};
  if (typeof text === "string") return [{ uri, ...kind, text }];
  const bytes = typeof artifact === "number" ? blobs[artifact] : blob;
  return typeof bytes === "string" ? [{ uri, ...kind, blob: bytes }] : [];
}
