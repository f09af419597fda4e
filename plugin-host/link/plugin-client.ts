import { connect } from "node:net";
import { linkMajor1 } from "./connect-link.ts";
import type { PluginLink } from "./plugin-link.ts";

/** One message either way; what C-core and grpc-js allow by default. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const PING_INTERVAL_MS = 10_000;
const PING_TIMEOUT_MS = 5_000;

/** Speaks to one plugin process over its socket. The connection opens with the first call; `close` tears it down. */
export async function dialPlugin(socketPath: string, token: string): Promise<PluginLink> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const { createGrpcTransport, Http2SessionManager } = await import("@connectrpc/connect-node");
  const baseUrl = "http://plugin";
  const session = new Http2SessionManager(
    baseUrl,
    { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS },
    { createConnection: () => connect(socketPath) },
  );
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: session,
    // Compression is on by default and makes a local socket four times slower.
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  return linkMajor1(transport, "gRPC", () => session.abort());
}
