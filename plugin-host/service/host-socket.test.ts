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

/** Of a request to "/patient" the answer may take its time. */
const isPatient = ({ url }: HostRequest) => url === "/patient";

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "clawd-socket-"));
  path = join(dir, "s");
  heard = 0;
  server = await listenOnSocket(path, (request, response) => void measure(request, response), isPatient);
  session = connectHttp2("http://host", { createConnection: () => connect(path) });
  session.on("error", () => {});
});
afterEach(() => {
  session.destroy();
  server.close();
  rmSync(dir, { recursive: true });
});

function begin(at: unknown = "/"): ClientHttp2Stream {
  const stream = session.request({ ":method": "POST", ":path": at === "/patient" ? at : "/" });
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

test("an answer that nobody takes holds its place, but for one that may take its time", async () => {
  session.settings({ initialWindowSize: 0 });
  await once(session, "localSettings");
  const untaken = Array.from({ length: 16 }, () => begin());
  for (const stream of untaken) stream.end("x");
  await Promise.all(untaken.map((stream) => once(stream, "response")));
  const next = begin();
  next.end("x");
  const ping = () => new Promise((done) => session.ping(done));
  await ping();
  expect(heard).toBe(16);
  for (const stream of untaken) stream.close(8);
  await once(next, "response");
  next.close(8);
  const patient = Array.from({ length: 20 }, () => begin("/patient"));
  for (const stream of patient) stream.end("x");
  await Promise.all(patient.map((stream) => once(stream, "response")));
  expect(heard).toBe(37);
});

test("a socket that is taken is refused", async () => {
  await expect(listenOnSocket(path, () => {}, isPatient)).rejects.toThrow(/EADDRINUSE/);
});

test("of a flood of requests every one has its turn, and one that left the line none", async () => {
  const flood = Array.from({ length: 350 }, begin);
  for (const stream of flood) stream.end("x");
  const leaving = begin();
  leaving.end("gone");
  leaving.close();
  expect(await Promise.all(flood.map(answerOf))).toEqual(flood.map(() => "1"));
  const last = begin();
  last.end("on");
  expect(await answerOf(last)).toBe("2");
  expect(heard).toBe(351);
});
