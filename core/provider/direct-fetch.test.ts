import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { directFetch } from "./direct-fetch.ts";

const servers: { server: Server; sockets: Socket[] }[] = [];
afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

/** Speaks raw bytes: `answer` gets each piece that arrives, with the number of its connection from 1. */
async function serveRaw(answer: (socket: Socket, connection: number, bytes: string) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on("data", (bytes) => answer(socket, connection, bytes.toString("latin1")));
    socket.on("error", () => undefined);
  });
  servers.push({ server, sockets });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

function ask(url: string, signal = new AbortController().signal): Promise<Response> {
  return directFetch({ url, method: "POST", headers: new Headers({ "x-a": "1" }), body: Buffer.from("{}"), signal });
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-b: 2\r\n\r\nhi";

test("sends the headers and the body with its length, and gives status, headers and body", async () => {
  let heard = "";
  const url = await serveRaw((socket, _connection, bytes) => {
    heard += bytes;
    if (heard.endsWith("{}")) socket.write(OK);
  });
  const response = await ask(url);
  expect([response.status, response.headers.get("x-b"), await response.text()]).toEqual([200, "2", "hi"]);
  expect(heard).toMatch(/^POST \/x HTTP\/1\.1\r\n/);
  expect(heard.toLowerCase()).toContain("content-length: 2\r\n");
});

test("asks again on a new connection when a kept one has just ended, but not when a new one ends", async () => {
  let resets = 0;
  const url = await serveRaw((socket, connection) => {
    if (connection === 1 && socket.bytesWritten > 0) {
      resets += 1;
      socket.resetAndDestroy();
    } else socket.write(OK);
  });
  expect(await (await ask(url)).text()).toBe("hi");
  await new Promise((resolve) => setImmediate(resolve));
  expect(await (await ask(url)).text()).toBe("hi");
  expect(resets).toBe(1);
  const hopeless = await serveRaw((socket) => socket.resetAndDestroy());
  await expect(ask(hopeless)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("an abort ends the wait for an answer and the reading of one", async () => {
  const silent = await serveRaw(() => undefined);
  const abort = new AbortController();
  const waiting = ask(silent, abort.signal);
  abort.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  const slow = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi"));
  const later = new AbortController();
  const response = await ask(slow, later.signal);
  const text = response.text();
  later.abort();
  await expect(text).rejects.toThrow();
});

test.each([
  ["999 Odd", 502],
  ["304 Not Modified", 304],
  ["204 No Content", 204],
])("a status of %s does not throw", async (line, status) => {
  const url = await serveRaw((socket) => socket.write(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`));
  expect((await ask(url)).status).toBe(status);
});

test("what is not HTTP is an error and not a crash", async () => {
  const url = await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
  await expect(ask(url)).rejects.toBeInstanceOf(Error);
});
