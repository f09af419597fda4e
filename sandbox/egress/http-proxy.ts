import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Failure } from "../../core/domain/failure.ts";
import { IDLE_LIMIT_MS, type ProxyDial } from "./proxy-dial.ts";
import { joinSockets } from "./tunnel.ts";

const HEAD_LIMIT_BYTES = 64 * 1024;
/** They belong to one connection, and each of the two sides has its own. */
const HOP_HEADERS = new Set(["connection", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]);

/** An HTTP proxy over connections that somebody else accepts: CONNECT for any protocol, absolute URLs for plain http. */
export function createHttpProxy(dial: ProxyDial): Server {
  const server = createServer({ maxHeaderSize: HEAD_LIMIT_BYTES, keepAliveTimeout: IDLE_LIMIT_MS });
  server.timeout = IDLE_LIMIT_MS;
  server.on("connect", (asked, stream, head) => {
    tunnel(asked, stream as Socket, head, dial).catch(() => stream.destroy());
  });
  server.on("request", (asked, answer) => {
    forward(asked, answer, dial).catch(() => answer.destroy());
  });
  server.on("clientError", (_, stream) => {
    if (stream.writable) stream.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    else stream.destroy();
  });
  return server;
}

async function tunnel(asked: IncomingMessage, inner: Socket, head: Buffer, dial: ProxyDial): Promise<void> {
  // What it says while we dial must wait for its hearer.
  inner.pause().on("error", () => inner.destroy());
  const [, host, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(asked.url ?? "") ?? [];
  const dialled = await dial(host ?? "", Number(port));
  if (!dialled.ok) {
    const { status, text } = explain(dialled.failure);
    const lines = [`HTTP/1.1 ${status}`, "Content-Type: text/plain; charset=utf-8", "Connection: close"];
    inner.end(`${[...lines, `Content-Length: ${Buffer.byteLength(text)}`].join("\r\n")}\r\n\r\n${text}`);
    return;
  }
  const outer = dialled.value;
  if (!inner.writable) return void outer.destroy();
  inner.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.byteLength > 0) outer.write(head);
  joinSockets(inner, outer, IDLE_LIMIT_MS);
}

/** Both messages are written anew from what was understood, so that nothing of one side's framing reaches the other. */
async function forward(asked: IncomingMessage, answer: ServerResponse, dial: ProxyDial): Promise<void> {
  answer.on("error", () => answer.destroy());
  const url = URL.parse(asked.url ?? "");
  const coding = asked.headers["transfer-encoding"];
  if (url?.protocol !== "http:" || url.username !== "" || url.password !== "")
    return refuse(answer, 400, "this proxy takes http://HOST/PATH without a user name, and CONNECT HOST:PORT\n");
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return refuse(answer, 501, `the transfer encoding ${JSON.stringify(coding)} is not known here\n`);
  const dialled = await dial(url.hostname, Number(url.port || 80));
  if (!dialled.ok) {
    const { status, text } = explain(dialled.failure);
    return refuse(answer, Number.parseInt(status, 10), text);
  }
  const outer = dialled.value;
  if (answer.destroyed) return void outer.destroy();
  outer.setTimeout(IDLE_LIMIT_MS, () => outer.destroy());
  const framing = coding === undefined ? [] : ["Transfer-Encoding", "chunked"];
  const onward = request({
    createConnection: () => outer,
    method: asked.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    headers: ["Host", url.host, "Connection", "close", ...ownHeaders(asked), ...framing],
  });
  answer.once("close", () => outer.destroy());
  const breakOff = (cause: Error) => {
    outer.destroy();
    if (answer.headersSent) answer.destroy();
    else refuse(answer, 502, `${url.host} broke off (${cause.message})\n`);
  };
  onward.once("error", breakOff);
  // Nobody asked for another protocol; without a listener the client would wait for the answer to come.
  onward.once("upgrade", () => breakOff(new Error("it speaks another protocol")));
  onward.once("response", (reply) => {
    reply.once("error", breakOff);
    try {
      // The server's words for the status stay behind: Node reads some that it does not write.
      answer.writeHead(reply.statusCode ?? 0, ownHeaders(reply));
    } catch (cause) {
      // So it is with some numbers.
      breakOff(cause as Error);
      return;
    }
    reply.pipe(answer);
  });
  asked.pipe(onward);
}

/** The headers of the message itself, as they were written, name and value by turns. */
function ownHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const known = name.toLowerCase();
    // What frames the body is no choice of the sender's.
    const isHop =
      HOP_HEADERS.has(known) || known.startsWith("proxy-") || (named.has(known) && known !== "content-length");
    if (!isHop) kept.push(name, value);
  }
  return kept;
}

function refuse(answer: ServerResponse, status: number, text: string): void {
  if (answer.destroyed) return;
  answer.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" }).end(text);
}

function explain({ code, message, hint }: Failure): { readonly status: string; readonly text: string } {
  const text = `clawd: ${message}${hint === undefined ? "" : ` (${hint})`}\n`;
  switch (code) {
    case "denied":
      return { status: "403 Forbidden", text };
    case "invalid":
      return { status: "400 Bad Request", text };
    case "timed_out":
      return { status: "504 Gateway Timeout", text };
    default:
      return { status: "502 Bad Gateway", text };
  }
}
