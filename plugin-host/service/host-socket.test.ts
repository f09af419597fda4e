import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as request1 } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostRequest, type HostResponse, listenOnSocket, sayNo } from "./host-socket.ts";

let dir = "";
let path = "";
let heard = 0;
/** Called with each request that is begun. */
let onHeard = () => {};
let server: { close(): void };
let session: ClientHttp2Session;

/** Reads all that is sent, then says how much. */
async function measure(request: HostRequest, response: HostResponse): Promise<void> {
  heard += 1;
  onHeard();
  let bytes = 0;
  try {
    for await (const chunk of request) bytes += (chunk as Buffer).length;
  } catch {
    return;
  }
  sayNo(response, 200, {}, String(bytes));
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "clawd-socket-"));
  path = join(dir, "s");
  heard = 0;
  server = await listenOnSocket(path, (request, response) => void measure(request, response));
  session = connectHttp2("http://host", { createConnection: () => connect(path) });
  session.on("error", () => {});
});
afterEach(() => {
  session.destroy();
  server.close();
  rmSync(dir, { recursive: true });
});

function begin(): ClientHttp2Stream {
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.on("error", () => {});
  return stream;
}

async function answerOf(stream: ClientHttp2Stream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

test("both versions of HTTP are served on one socket", async () => {
  const stream = begin();
  stream.end("four");
  expect(await answerOf(stream)).toBe("4");
  const old = request1({ socketPath: path, method: "POST" });
  old.end("three");
  const [answer] = await once(old, "response");
  expect(String(await answer.toArray())).toBe("5");
});

test("what stalls holds up only a few, and what leaves the line is never begun", async () => {
  const stalled = Array.from({ length: 16 }, begin);
  for (const stream of stalled) stream.write("x");
  const [leaving, staying] = [begin(), begin()];
  leaving.end("gone");
  staying.end("here");
  await new Promise<void>((full) => {
    onHeard = () => {
      if (heard === 16) full();
    };
    onHeard();
  });
  leaving.close();
  await once(leaving, "close");
  stalled[0]?.end();
  expect(await answerOf(staying)).toBe("4");
  for (const stream of stalled) stream.close();
  await Promise.all(stalled.map((stream) => stream.closed || once(stream, "close")));
  const last = begin();
  last.end("on");
  expect(await answerOf(last)).toBe("2");
  expect(heard).toBe(18);
});

test("a socket that is taken is refused", async () => {
  await expect(listenOnSocket(path, () => {})).rejects.toThrow(/EADDRINUSE/);
});
