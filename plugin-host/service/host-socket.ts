import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";

const MAX_CONNECTIONS = 16;
/** Of one connection that speaks HTTP/2: its client may have begun them all before it hears of a limit. */
const MAX_STREAMS = 1_000;
/**
 * Requests that are read or answered at once, of all connections: each, and each answer that its client has yet to take, may
 * be as large as a message may. More wait in line.
 */
const MAX_AT_WORK = 16;
/** Requests that are begun in a window; what comes beyond waits for the next one. A thousand a second are no work, but a flood. */
const MAX_BEGUN = 100;
const WINDOW_MS = 100;
/** Time in which a connection must say what it speaks, and in which a request must be over, milliseconds. */
const FIRST_BYTES_LIMIT_MS = 10_000;
const REQUEST_LIMIT_MS = 30_000;
/** What a client sends first that speaks HTTP/2. */
const HTTP2_PREFACE = "PRI";
/** What HTTP/2 calls "cancel". An end without an error would wait until all of the answer is taken. */
const HTTP2_CANCEL = 8;

export type HostRequest = IncomingMessage | Http2ServerRequest;
export type HostResponse = ServerResponse | Http2ServerResponse;
export type Handler = (request: HostRequest, response: HostResponse) => void;

/**
 * Serves HTTP/1.1 and HTTP/2 on one unix socket; the first bytes of a connection say which. Everything that a plugin can
 * exhaust here is its own. Rejects when it cannot listen.
 * @param waits says of which requests the answer may take as long as a person does; they leave the line when they are read
 */
export async function listenOnSocket(
  path: string,
  handler: Handler,
  waits: (request: HostRequest) => boolean,
): Promise<{ close(): void }> {
  const [{ createServer }, { createServer: createHttp1 }, { createServer: createHttp2 }] = await Promise.all([
    import("node:net"),
    import("node:http"),
    import("node:http2"),
  ]);
  const limited = inLine(handler, waits);
  const http1 = createHttp1({ headersTimeout: REQUEST_LIMIT_MS, requestTimeout: REQUEST_LIMIT_MS }, limited);
  // It never listens itself; told that it does, it begins to watch over the time that requests take.
  http1.emit("listening");
  const http2 = createHttp2({ settings: { maxConcurrentStreams: MAX_STREAMS } }, limited);
  // A plugin that speaks nonsense loses its connection; nobody else notices.
  http2.on("session", (session) => session.on("error", () => session.destroy()));
  http1.on("clientError", (_error, socket) => socket.destroy());

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    sniff(socket, (isHttp2) => (isHttp2 ? http2 : http1).emit("connection", socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  const listening = Promise.withResolvers<void>();
  // Stays: an error after the start, say of one accept, is heard by nobody but must not be fatal.
  server.on("error", listening.reject);
  server.listen(path, listening.resolve);
  await listening.promise;
  return {
    close() {
      server.close();
      // Ends its watch, too.
      http1.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What both versions of a response have in common. */
type Answerable = { statusCode: number; setHeader(name: string, value: string): unknown; end(text: string): unknown };

/** Answers without a look at what was sent. */
export function sayNo(
  response: Answerable,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(text);
}

/** Works on few requests at once, each within its time; what it holds unread is a window's worth a stream. */
function inLine(handler: Handler, waits: (request: HostRequest) => boolean): Handler {
  const waiting = new Set<() => void>();
  let atWork = 0;
  let begun = 0;
  const hasPlace = () => atWork < MAX_AT_WORK && begun < MAX_BEGUN;

  function beginNext(): void {
    const [next] = waiting;
    if (next !== undefined && hasPlace()) next();
  }

  function openWindow(): void {
    begun = 0;
    for (let left = waiting.size; left > 0; left -= 1) beginNext();
  }

  function begin(request: HostRequest, response: HostResponse): void {
    atWork += 1;
    begun += 1;
    if (begun === 1) setTimeout(openWindow, WINDOW_MS).unref();
    const deadline = setTimeout(() => hangUp(request), REQUEST_LIMIT_MS);
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      atWork -= 1;
      beginNext();
    };
    if (waits(request)) request.once("end", over);
    response.once("close", over);
    handler(request, response);
  }

  function queue(request: HostRequest, response: HostResponse): void {
    const start = () => {
      leave();
      begin(request, response);
    };
    const leave = () => {
      waiting.delete(start);
      response.off("close", leave);
    };
    waiting.add(start);
    // Its client waits no longer: it must neither hold a place in the line nor be begun.
    response.once("close", leave);
  }

  return (request, response) => {
    if (hasPlace()) begin(request, response);
    else queue(request, response);
  };
}

function hangUp(request: HostRequest): void {
  if ("stream" in request) request.stream.close(HTTP2_CANCEL);
  else request.socket.destroy();
}

function sniff(socket: Socket, decide: (isHttp2: boolean) => void): void {
  const deadline = setTimeout(() => socket.destroy(), FIRST_BYTES_LIMIT_MS);
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
