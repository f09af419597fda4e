import { connect, type Socket } from "node:net";
import type { Interceptor } from "@connectrpc/connect";
import { Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { linkByConnect } from "./connect-link.ts";
import type { PluginLink } from "./plugin-link.ts";

/** One message either way; what C-core and grpc-js allow by default. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** A socket has no name; requests must have one. */
const BASE_URL = "http://plugin";
const PING_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 5_000;
/** Connections that a plugin over HTTP/1.1 may have open at once: one a call. */
const MAX_HTTP1_SOCKETS = 128;
/** Of those, how many may wait for the next call: each holds a thread of a simple server. */
const MAX_IDLE_HTTP1_SOCKETS = 4;
/** How long a connection without a call lasts when the server does not say; longer than any that says. */
const UNTOLD_MS = 24 * 60 * 60_000;

/** What a plugin chose in its Hello. */
export type Chosen = { readonly wire: Wire; readonly protocolMajor: number };

/** Speaks to one plugin process over its socket. The connection opens with the first call; `close` tears it down. */
export async function dialPlugin(socketPath: string, token: string, chosen: Chosen): Promise<PluginLink> {
  const dial = chosen.wire === Wire.CONNECT_JSON ? dialConnectJson : dialGrpc;
  return dial(socketPath, chosen.protocolMajor, token);
}

async function dialGrpc(socketPath: string, major: number, token: string): Promise<PluginLink> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const [{ Http2SessionManager }, { createGrpcTransport }] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("./grpc-transport.ts"),
  ]);
  const sessions = new Http2SessionManager(
    BASE_URL,
    { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS },
    { createConnection: () => connect(socketPath) },
  );
  const transport = createGrpcTransport({ sessions, token, limitBytes: MAX_MESSAGE_BYTES });
  return linkByConnect({ transport, wire: "gRPC", major, streamsBothWays: true, close: () => sessions.abort() });
}

async function dialConnectJson(socketPath: string, major: number, token: string): Promise<PluginLink> {
  const [{ createConnectTransport }, { Agent }] = await Promise.all([
    import("@connectrpc/connect-node"),
    import("node:http"),
  ]);
  const agent = new Agent({
    ...{ keepAlive: true, maxSockets: MAX_HTTP1_SOCKETS, maxFreeSockets: MAX_IDLE_HTTP1_SOCKETS },
    timeout: UNTOLD_MS,
  });
  const keep = agent.keepSocketAlive.bind(agent);
  // Only a server that says for how long gets another call on the same connection: no call meets a dying one. What it says
  // is the socket's timeout then; the connection ends a second before.
  agent.keepSocketAlive = (socket) => {
    keep(socket);
    return (socket as Socket).timeout !== UNTOLD_MS;
  };
  const showToken: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: BASE_URL,
    // Compression is on by default and makes a local socket four times slower.
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    interceptors: [showToken],
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
