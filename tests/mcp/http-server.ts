import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it came. */
export type Heard = { readonly method: string; readonly headers: IncomingHttpHeaders; readonly rpc: string };

/** A server of MCP over HTTP without any library, on a port of the loopback. */
export type HttpMcpServer = {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** The next answers to calls of tools have these statuses. */
  failWith(...statuses: readonly number[]): void;
  close(): Promise<void>;
};

type Rpc = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

/** `json` and `stream` answer a POST at once, the latter as an event stream; `old` knows only GET and events. */
export async function openHttpServer(way: "json" | "stream" | "old"): Promise<HttpMcpServer> {
  const heard: Heard[] = [];
  const statuses: number[] = [];
  let stream: ServerResponse | undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const rpc = await readRpc(request);
    heard.push({ method: request.method ?? "", headers: request.headers, rpc: rpc?.method ?? "" });
    if (way === "old" && request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write("event: endpoint\ndata: /messages\n\n");
    } else if (rpc === undefined || (way === "old" && request.url !== "/messages")) response.writeHead(405).end();
    else if (rpc.id === undefined) response.writeHead(202).end();
    else {
      const status = rpc.method === "tools/call" ? (statuses.shift() ?? 200) : 200;
      const answer = JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result: answerTo(rpc) });
      if (status !== 200) response.writeHead(status).end("no");
      else if (way === "json") response.writeHead(200, { "content-type": "application/json" }).end(answer);
      else if (way === "stream")
        response.writeHead(200, { "content-type": "text/event-stream" }).end(`event: message\ndata: ${answer}\n\n`);
      else {
        response.writeHead(202).end();
        stream?.write(`event: message\ndata: ${answer}\n\n`);
      }
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    heard,
    failWith: (...next) => void statuses.push(...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRpc(request: IncomingMessage): Promise<Rpc | undefined> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body === "" ? undefined : JSON.parse(body);
}

function answerTo({ method, params }: Rpc): object {
  if (method === "initialize")
    return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } };
  if (method === "tools/list")
    return { tools: [{ name: "ask", description: "asks", inputSchema: { type: "object", properties: {} } }] };
  return { content: [{ type: "text", text: `answer of ${params?.name}` }] };
}
