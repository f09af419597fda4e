import { createHash, timingSafeEqual } from "node:crypto";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Memory } from "../../core/domain/memory.ts";
import { HostService, LogLevel } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import { check } from "../../sandbox/permission/grant.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import type { LogRing } from "../link/log-ring.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import type { LiveCalls } from "./live-calls.ts";

const MAX_CONNECTIONS = 8;
const MAX_STREAMS = 16;
const DEFAULT_HITS = 5;
const MAX_HITS = 50;
const MAX_QUERY_CHARS = 4096;

const LEVEL_NAMES: Readonly<Record<LogLevel, string>> = {
  [LogLevel.UNSPECIFIED]: "info",
  [LogLevel.DEBUG]: "debug",
  [LogLevel.INFO]: "info",
  [LogLevel.WARNING]: "warning",
  [LogLevel.ERROR]: "error",
};

export type HostServices = {
  readonly plugin: string;
  /** The token that this plugin shows. */
  readonly token: string;
  readonly granted: Grant;
  readonly log: LogRing;
  readonly recall: Memory["search"];
  readonly calls: LiveCalls;
};

/** Serves what the host does for one plugin on a socket of that plugin alone. Rejects when it cannot listen. */
export async function serveHost(socketPath: string, services: HostServices): Promise<{ close(): void }> {
  const { createServer } = await import("node:http2");
  const open = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer(
    { settings: { maxConcurrentStreams: MAX_STREAMS } },
    await handleCalls(services),
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on("session", (session) => {
    open.add(session);
    session.once("close", () => open.delete(session));
    // A plugin that speaks nonsense loses its connection; nobody else notices.
    session.on("error", () => {});
  });
  const listening = Promise.withResolvers<void>();
  // Stays: an error after the start, say of one accept, is heard by nobody but must not be fatal.
  server.on("error", listening.reject);
  server.listen(socketPath, listening.resolve);
  await listening.promise;
  return {
    close: () => {
      server.close();
      for (const session of open) session.destroy();
    },
  };
}

async function handleCalls({ plugin, token, granted, log, recall }: HostServices) {
  const { Code, ConnectError } = await import("@connectrpc/connect");
  const { connectNodeAdapter } = await import("@connectrpc/connect-node");
  const expected = digest(`Bearer ${token}`);
  return connectNodeAdapter({
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    interceptors: [
      (next) => (request) => {
        if (!timingSafeEqual(digest(request.header.get("authorization") ?? ""), expected)) {
          throw new ConnectError("the token of this call is missing or wrong", Code.Unauthenticated);
        }
        return next(request);
      },
    ],
    routes: (router) => {
      router.service(HostService, {
        log: ({ level, message }) => {
          log.add("log", `${LEVEL_NAMES[level] ?? "info"} ${message}`);
          return {};
        },
        recall: async ({ query, limit }, context) => {
          const allowed = check(granted, { kind: "memory", access: "query" });
          if (!allowed.ok) {
            const message = `plugin "${plugin}" may not read memory: its plugin.json does not ask for "memory=read"`;
            throw new ConnectError(message, Code.PermissionDenied);
          }
          if (query.length > MAX_QUERY_CHARS)
            throw new ConnectError(`the query is longer than ${MAX_QUERY_CHARS} characters`, Code.InvalidArgument);
          const found = await recall(query, Math.min(limit === 0 ? DEFAULT_HITS : limit, MAX_HITS), context.signal);
          if (!found.ok) throw new ConnectError(found.failure.message, Code.Unavailable);
          return { hits: found.value.map(({ text, path, id }) => ({ text, source: path === "" ? id : path })) };
        },
      });
    },
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
