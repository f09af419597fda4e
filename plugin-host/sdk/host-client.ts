import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { HostService, LogLevel } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import { showBearer } from "./bearer.ts";

/** One message either way; the limit of most gRPC libraries. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const HOST_TIMEOUT_MS = 30_000;

/** One hit of a memory search: the text, and where it is from (a path or a note's id). */
export type Recollection = { readonly text: string; readonly source: string };

/** What the host does for a plugin. Calls reject when the host refuses or is gone. */
export type Host = {
  /** Writes a line to the plugin's log (`claw plugin logs NAME`). Needs no permission. */
  log(message: string, level?: "debug" | "info" | "warning" | "error"): Promise<void>;
  /** Searches long-term memory, best first, 5 hits unless told otherwise. Needs the permission "memory=read". */
  recall(query: string, limit?: number): Promise<readonly Recollection[]>;
};

const LEVELS = {
  debug: LogLevel.DEBUG,
  info: LogLevel.INFO,
  warning: LogLevel.WARNING,
  error: LogLevel.ERROR,
} as const;

/** Dials the host's socket on the first call. */
export function dialHost(socketPath: string, token: string): Host {
  const transport = createGrpcTransport({
    baseUrl: "http://host",
    nodeOptions: { createConnection: () => connect(socketPath) },
    interceptors: [showBearer(token)],
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    defaultTimeoutMs: HOST_TIMEOUT_MS,
  });
  const client = createClient(HostService, transport);
  return {
    log: async (message, level = "info") => {
      await client.log({ level: LEVELS[level], message });
    },
    recall: async (query, limit = 0) =>
      (await client.recall({ query, limit })).hits.map(({ text, source }) => ({ text, source })),
  };
}
