import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { limitedFetch } from "./limited-fetch.ts";

const KIB = 1024;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** What a server says to a GET, as far as it was let through. */
async function ask(serve: RequestListener, maxBytes = 64 * KIB): Promise<{ length: number; trouble: string }> {
  const server = createServer(serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const response = await limitedFetch(fetch, maxBytes)(`http://127.0.0.1:${port}/`);
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) length += chunk.byteLength;
    return { length, trouble: "" };
  } catch (cause) {
    return { length, trouble: cause instanceof Error ? cause.message : String(cause) };
  }
}

const TOO_MUCH = expect.stringContaining("MiB at once");

test("an answer within the limit is whole, with its status and headers", async () => {
  expect(await ask((_request, response) => response.end("x".repeat(64 * KIB)))).toEqual({
    length: 64 * KIB,
    trouble: "",
  });
});

test("an answer that never ends is cut, and its connection with it", async () => {
  const gone = Promise.withResolvers<void>();
  const { length, trouble } = await ask((_request, response) => {
    response.once("close", gone.resolve);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(8 * KIB)));
    };
    response.on("drain", more);
    more();
  });
  expect(trouble).toEqual(TOO_MUCH);
  expect(length).toBeLessThanOrEqual(64 * KIB);
  await gone.promise;
});

test("what a few packed bytes become counts, not what they were", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * KIB * KIB));
  const { trouble } = await ask((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end(bomb);
  });
  expect(bomb.byteLength).toBeLessThan(70 * KIB);
  expect(trouble).toEqual(TOO_MUCH);
});

test("a stream may go on for as long as its events are small, whatever ends their lines", async () => {
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    const event = `data: ${"x".repeat(KIB)}${end}`;
    const heard = await ask((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(event.repeat(300));
    });
    expect(heard).toEqual({ length: event.length * 300, trouble: "" });
  }
});

test("an event of many lines and no end is cut", async () => {
  const { trouble } = await ask((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${"x".repeat(KIB)}\n`.repeat(100));
  });
  expect(trouble).toEqual(TOO_MUCH);
});
