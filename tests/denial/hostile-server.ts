import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

const PIECE = Buffer.alloc(64 * 1024, "x");
/** Zeros that become a gigabyte when they are unpacked: one packed stream behind the other is one, too. */
const BOMB_PART = gzipSync(Buffer.alloc(16 * 1024 * 1024));
const BOMB_PARTS = 64;
const DROP_MS = 100;

/** Writes as fast as it is read, until nobody does any more. */
function pour(response: ServerResponse, piece: Buffer): void {
  while (!response.destroyed && response.write(piece));
  response.once("drain", () => pour(response, piece));
}

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "/silent": () => {},
  "/endless": (response) => pour(response.writeHead(200), PIECE),
  "/huge": (response) => pour(response.writeHead(200, { "content-length": String(2 ** 40) }), PIECE),
  "/drops": (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), DROP_MS);
    response.once("close", () => clearInterval(timer));
  },
  "/bomb": (response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    for (let part = 0; part < BOMB_PARTS; part += 1) response.write(BOMB_PART);
    response.end();
  },
  "/around": (response) => void response.writeHead(302, { location: "/around" }).end(),
  "/headers": (response) => {
    response.socket?.write("HTTP/1.1 200 OK\r\n");
    pourHeaders(response);
  },
};

function pourHeaders(response: ServerResponse): void {
  const { socket } = response;
  while (socket && !socket.destroyed && socket.write(`x-${"y".repeat(1000)}: ${"z".repeat(1000)}\r\n`));
  socket?.once("drain", () => pourHeaders(response));
}

export type HostileServer = { readonly port: number; close(): Promise<void> };

/** A server on a loopback port that is bad for whoever asks it. */
export async function startHostileServer(): Promise<HostileServer> {
  const server = createServer((request, response) => {
    response.on("error", () => {});
    request.socket.on("error", () => {});
    const answer = ANSWERS[request.url ?? ""];
    if (answer) answer(response);
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
