import {
  type AuthProvider,
  type FetchLike,
  type OAuthClientProvider,
  SdkError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { BridgeSettings } from "./bridge-settings.ts";
import { statusOf } from "./failure-class.ts";

/** The longest message of a server that is read. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** What belongs to the bridge and means nothing to a server. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(["CLAWD_PLUGIN"]);

export type TransportParts = {
  /** The bridge's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The Node that the bridge runs on, which is "node" for servers, too. */
  readonly nodeBinary: string;
  readonly fetch: FetchLike;
  /** For a server that wants a login. */
  readonly auth: AuthProvider | OAuthClientProvider | undefined;
};

/** The ways to a server, the most likely first: a server that is dialled may speak only the older of two. */
export function transportsTo(settings: BridgeSettings, parts: TransportParts): readonly (() => Transport)[] {
  if (settings.transport === "stdio") return [() => childTransport(settings, parts)];
  const url = new URL(settings.url);
  const options = {
    fetch: parts.fetch,
    requestInit: { headers: { ...settings.headers } },
    ...(parts.auth === undefined ? {} : { authProvider: parts.auth }),
  };
  return [() => new StreamableHTTPClientTransport(url, options), () => new SSEClientTransport(url, options)];
}

/** True when a server has said that it does not know this way, so that another may do. */
export function isWrongWay(cause: unknown): boolean {
  const status = cause instanceof SdkError ? statusOf(cause) : undefined;
  return status === 400 || status === 404 || status === 405;
}

function childTransport({ command, env }: BridgeSettings, parts: TransportParts): Transport {
  const [program = "", ...args] = command;
  const inherited = Object.entries(parts.env).filter(([name]) => !OWN_VARIABLES.has(name));
  return new StdioClientTransport({
    command: program === "node" ? parts.nodeBinary : program,
    args,
    // Never undefined here: the bridge's own environment was built from nothing.
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
    // Its log is the bridge's.
    stderr: "inherit",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
}
