import { createHash, timingSafeEqual } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { fail, ok, type Result } from "../domain/failure.ts";

/** Largest message that is read, bytes. */
const REQUEST_LIMIT_BYTES = 8 * 1024 * 1024;
/** Largest message that is written, bytes: more than any event that a journal takes, or a session could not be heard. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
/** Connections at once; more are turned away. Far above what people and their programs open. */
const CONNECTION_LIMIT = 1024;
/** Time in which a connection must say what it speaks, milliseconds. */
const FIRST_BYTES_LIMIT_MS = 10_000;
/** Time in which a request over HTTP/1.1 must have come, its headers and then all of it, milliseconds. */
const REQUEST_LIMIT_MS = 30_000;
/**
 * How long a connection that is not used is kept, milliseconds: much longer than clients keep theirs. Where both sides end
 * it at the same time, the one that is busy then ends one that a request has just come through.
 */
const IDLE_LIMIT_MS = 120_000;
/** How often that is looked at, milliseconds. */
const LOOK_EVERY_MS = 5_000;
/** Calls at once on one connection that speaks HTTP/2. */
const STREAM_LIMIT = 1_000;
/** What a client must send before it is known whether it speaks HTTP/1.1 or HTTP/2. */
const HTTP2_PREFACE = "PRI";

type Handler = ReturnType<typeof connectNodeAdapter>;

/** An open door. `address` is the socket's path or "http://127.0.0.1:PORT". */
export type Door = { readonly address: string; close(): Promise<void> };

/** Connect, gRPC and gRPC-Web for all routes, over HTTP/1.1 and HTTP/2 alike. */
export function requestHandler(routes: (router: ConnectRouter) => void): Handler {
  return connectNodeAdapter({
    routes,
    readMaxBytes: REQUEST_LIMIT_BYTES,
    writeMaxBytes: ANSWER_LIMIT_BYTES,
    // Both ends are on this machine: compressing costs more than it saves.
    acceptCompression: [],
  });
}

/** How long a client may take to say what it wants, milliseconds. An answer takes as long as it takes. */
export type Patience = { readonly firstBytesMs: number; readonly requestMs: number; readonly lookEveryMs: number };

const PATIENCE: Patience = {
  firstBytesMs: FIRST_BYTES_LIMIT_MS,
  requestMs: REQUEST_LIMIT_MS,
  lookEveryMs: LOOK_EVERY_MS,
};

/** Opens the door on a unix socket that only its owner may enter. A dead daemon's socket is replaced. */
export async function listenOnSocket(path: string, handler: Handler, patience = PATIENCE): Promise<Result<Door>> {
  await rm(path, { force: true });
  const opened = await listen(door(handler, patience), { path });
  if (!opened.ok) return opened;
  await chmod(path, 0o600);
  return ok({ address: path, close: opened.value.close });
}

/** Opens the door on a loopback port. Every request must carry `authorization: Bearer TOKEN`. */
export async function listenOnPort(port: number, token: string, handler: Handler): Promise<Result<Door>> {
  const guarded: Handler = (request, response) => {
    if (sameSecret(request.headers.authorization ?? "", `Bearer ${token}`)) return handler(request, response);
    response.writeHead(401, { "content-type": "text/plain", "www-authenticate": "Bearer" });
    response.end("this door needs the daemon's token: authorization: Bearer TOKEN\n");
  };
  const opened = await listen(door(guarded, PATIENCE), { host: "127.0.0.1", port });
  if (!opened.ok) return opened;
  const { port: bound } = opened.value.server.address() as AddressInfo;
  return ok({ address: `http://127.0.0.1:${bound}`, close: opened.value.close });
}

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** One listener for both HTTP versions: the first bytes of a connection say which. */
function door(handler: Handler, { firstBytesMs, requestMs, lookEveryMs }: Patience): Server {
  const limits = {
    ...{ headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: lookEveryMs },
    keepAliveTimeout: IDLE_LIMIT_MS,
  };
  const http1 = createHttp1(limits, handler);
  // It never listens itself; told that it does, it begins to watch over the time that requests take.
  http1.emit("listening");
  const http2 = createHttp2({ settings: { maxConcurrentStreams: STREAM_LIMIT } }, handler);
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    sniff(socket, firstBytesMs, (isHttp2) => (isHttp2 ? http2 : http1).emit("connection", socket));
  });
  // Ends its watch, too.
  server.once("close", () => http1.close());
  server.maxConnections = CONNECTION_LIMIT;
  return server;
}

function sniff(socket: Socket, withinMs: number, decide: (isHttp2: boolean) => void): void {
  const deadline = setTimeout(() => socket.destroy(), withinMs);
  socket.once("close", () => clearTimeout(deadline));
  let start = Buffer.alloc(0);
  const look = () => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    start = Buffer.concat([start, bytes]);
    if (start.length < HTTP2_PREFACE.length && HTTP2_PREFACE.startsWith(start.toString("latin1"))) return;
    socket.off("readable", look);
    clearTimeout(deadline);
    socket.unshift(start);
    decide(start.toString("latin1", 0, HTTP2_PREFACE.length) === HTTP2_PREFACE);
  };
  socket.on("readable", look);
}

async function listen(
  server: Server,
  where: { path: string } | { host: string; port: number },
): Promise<Result<{ server: Server; close(): Promise<void> }>> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(where, () => {
      server.off("error", resolve);
      resolve(undefined);
    });
  });
  if (failure !== undefined) {
    const place = "path" in where ? where.path : `port ${where.port}`;
    const hint =
      "path" in where ? "set CLAWD_HOME to a folder you may write" : "choose another [gateway] port in config.toml";
    return fail("unavailable", `cannot listen on ${place}: ${failure.code ?? failure.message}`, {
      hint,
      cause: failure,
    });
  }
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroySoon();
    });
  return ok({ server, close });
}
