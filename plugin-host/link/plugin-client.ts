import { connect } from "node:net";
import type { Interceptor } from "@connectrpc/connect";
import { Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { linkByConnect } from "./connect-link.ts";
import type { PluginLink } from "./plugin-link.ts";

/** One message either way; what C-core and grpc-js allow by default. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const PING_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 5_000;
/** Connections that a plugin over HTTP/1.1 may have open at once: one a call. */
const MAX_HTTP1_SOCKETS = 128;

/** What a plugin chose in its Hello. */
export type Chosen = { readonly wire: Wire; readonly protocolMajor: number };

/** Speaks to one plugin process over its socket. The connection opens with the first call; `close` tears it down. */
export async function dialPlugin(socketPath: string, token: string, chosen: Chosen): Promise<PluginLink> {
  const showToken: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  const shared = {
    baseUrl: "http://plugin",
    // Compression is on by default and makes a local socket four times slower.
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    interceptors: [showToken],
  };
  const dial = chosen.wire === Wire.CONNECT_JSON ? dialConnectJson : dialGrpc;
  return dial(socketPath, chosen.protocolMajor, shared);
}

type SharedOptions = {
  readonly baseUrl: string;
  readonly acceptCompression: never[];
  readonly readMaxBytes: number;
  readonly writeMaxBytes: number;
  readonly interceptors: Interceptor[];
};

async function dialGrpc(socketPath: string, major: number, shared: SharedOptions): Promise<PluginLink> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const { createGrpcTransport, Http2SessionManager } = await import("@connectrpc/connect-node");
  const sessionManager = new Http2SessionManager(
    shared.baseUrl,
    { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS },
    { createConnection: () => connect(socketPath) },
  );
  const transport = createGrpcTransport({ ...shared, sessionManager });
  return linkByConnect({ transport, wire: "gRPC", major, streamsBothWays: true, close: () => sessionManager.abort() });
}

async function dialConnectJson(socketPath: string, major: number, shared: SharedOptions): Promise<PluginLink> {
  const [{ createConnectTransport }, { Agent }] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("node:http"),
  ]);
  // One connection a call: a server that keeps none open after its answer loses nothing, and no call meets a dying one.
  const agent = new Agent({ keepAlive: false, maxSockets: MAX_HTTP1_SOCKETS });
  const transport = createConnectTransport({
    ...shared,
    httpVersion: "1.1",
    useBinaryFormat: false,
    nodeOptions: { agent, socketPath },
  });
  return linkByConnect({
    transport,
    wire: "Connect JSON",
    major,
    streamsBothWays: false,
    close: () => agent.destroy(),
  });
}
