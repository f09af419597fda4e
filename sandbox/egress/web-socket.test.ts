import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echoWebSocket } from "../../tests/kit/web-socket-echo.ts";
import { grantJudge } from "./address-judge.ts";
import { openEgress } from "./egress.ts";
import { netGrant, openLocalNet } from "./fixtures/local-net.ts";
import type { EgressSocket } from "./web-socket.ts";

const NEVER = new AbortController().signal;
const net = openLocalNet();
const egress = openEgress({
  ownAddresses: () => [],
  resolve: async (host) => (host === "inside.test" ? ["127.0.0.1"] : []),
});
let port = 0;
const serverSockets: Duplex[] = [];
beforeAll(async () => {
  const server = createServer((_, response) => response.writeHead(302, { location: "/socket" }).end());
  server.on("upgrade", (request, socket) => {
    serverSockets.push(socket);
    if (request.url === "/socket") echoWebSocket(request, socket);
    else socket.end("HTTP/1.1 302 Found\r\nlocation: /socket\r\ncontent-length: 0\r\n\r\n");
  });
  port = await net.listen(server);
});
afterAll(() => {
  net.close();
  egress.close();
});

async function open(url: string, allow: readonly string[], protocols: readonly string[] = []) {
  return egress.socket({ url, protocols }, grantJudge(netGrant(allow)), NEVER);
}

async function opened(): Promise<EgressSocket> {
  const socket = await open(`ws://127.0.0.1:${port}/socket`, [`127.0.0.1:${port}`], ["one", "two"]);
  if (!socket.ok) throw new Error(socket.failure.message);
  return socket.value;
}

test("texts and bytes go out and come back, and goodbye is said with and without a code", async () => {
  const socket = await opened();
  expect(socket.protocol).toBe("one");
  expect([socket.send("ü"), socket.send(Buffer.from([0, 255]))]).toEqual([true, true]);
  expect(await socket.read(NEVER)).toEqual({ kind: "text", data: "ü" });
  expect(await socket.read(NEVER)).toEqual({ kind: "binary", data: Buffer.from([0, 255]) });
  socket.close(4000, "bye");
  expect(await socket.read(NEVER)).toEqual({ kind: "close", code: 4000, reason: "bye", clean: true });
  const other = await opened();
  other.close(undefined, "");
  expect(await other.read(NEVER)).toMatchObject({ kind: "close", clean: true });
});

test("a connection that is dropped is a close without goodbye", async () => {
  const socket = await opened();
  socket.send("drop");
  expect(await socket.read(NEVER)).toMatchObject({ kind: "close", code: 1006, clean: false });
});

test("only what is granted is dialled, whatever the name leads to", async () => {
  const refused = [
    await open(`ws://127.0.0.1:${port}/socket`, ["127.0.0.1:1"]),
    // A name that is granted does not open a private address behind it.
    await open(`ws://inside.test:${port}/socket`, [`inside.test:${port}`]),
    await open(`ws://2130706433:${port}/socket`, ["10.0.0.1"]),
    await open(`ws://user:secret@127.0.0.1:${port}/socket`, [`127.0.0.1:${port}`]),
    await open("ws://127.0.0.1:25/", ["127.0.0.1:25"]),
    await open("file:///etc/passwd", ["127.0.0.1"]),
  ];
  expect(refused.map((one) => (one.ok ? "open" : one.failure.code))).toEqual([
    ...["denied", "denied", "denied", "invalid", "invalid", "invalid"],
  ]);
});

test("a server that redirects or speaks plain http is none", async () => {
  const answered = await open(`ws://127.0.0.1:${port}/elsewhere`, [`127.0.0.1:${port}`]);
  expect(answered.ok ? "open" : answered.failure.code).toBe("unavailable");
});

test("a message larger than 4 MiB, and more than is read, end the connection and not the daemon", async () => {
  const socket = await opened();
  socket.send(`flood ${5 * 1024 * 1024}`);
  expect(await socket.read(NEVER)).toMatchObject({ kind: "close", clean: false });
  const unread = await opened();
  const ended = new Promise((resolve) => serverSockets.at(-1)?.once("close", resolve));
  for (let sent = 0; sent < 6; sent += 1) unread.send("flood 1048576");
  await ended;
  const kinds: string[] = [];
  while (kinds.at(-1) !== "close") kinds.push((await unread.read(NEVER)).kind);
  // What had come before it was too much can still be read.
  expect(kinds).toEqual([...Array.from({ length: 5 }, () => "binary"), "close"]);
});

test("more than 4 MiB that wait to be sent are refused", async () => {
  const socket = await opened();
  expect(socket.send(Buffer.alloc(5 * 1024 * 1024))).toBe(false);
  socket.destroy();
});
