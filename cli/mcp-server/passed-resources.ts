import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult, ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";
import { matches } from "./offered-tools.ts";

/** Addresses of clawd's own resources begin like this; no server has others of that kind. */
const OWN_SCHEME = /^clawd:/i;

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
    return ok([...new Set(patterns.flatMap((pattern) => running.filter((name) => matches(pattern, name))))]);
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
    async find(uri) {
      if (patterns.length === 0 || OWN_SCHEME.test(uri)) return undefined;
      return ownerOf(last, uri) ?? ownerOf(await list(), uri);
    },
  };
}

/** Lines about servers that are kept apart, so that each is said once. */
const COMPLAINTS_MAX = 1_000;

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

/** What a call of the tool that reads gave: the server's own answer stands in its one artifact. Undefined for anything else. */
export function readContents({ content }: Pick<CallToolResult, "content">): ReadResourceResult | undefined {
  const [only] = content;
  if (content.length !== 1 || only?.type !== "resource" || !("text" in only.resource)) return undefined;
  try {
    const said = JSON.parse(only.resource.text) as { contents?: unknown };
    return Array.isArray(said.contents) ? { contents: said.contents.flatMap(readContent) } : undefined;
  } catch {
    return undefined;
  }
}

function readContent(said: unknown): ReadResourceResult["contents"] {
  const { uri, mimeType, text, blob }: Readonly<Record<string, unknown>> = Object(said);
  if (typeof uri !== "string") return [];
  const kind = typeof mimeType === "string" ? { mimeType } : {};
  if (typeof text === "string") return [{ uri, ...kind, text }];
  return typeof blob === "string" ? [{ uri, ...kind, blob }] : [];
}
