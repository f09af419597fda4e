import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerHttp2Stream } from "node:http2";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Credentials } from "../../plugin-host/remote/certificate.ts";
import { MAX_TUNNELS, PATHS, sayLine } from "../../plugin-host/remote/wire.ts";
import {
  closed,
  DIGEST,
  isServed,
  openHostileAgent,
  openRemoteHouse,
  type RemoteHouse,
  sayOffer,
} from "./remote-house.ts";

// An agent whose certificate counts, and that does with the link what no agent of ours does.

const NAME = "weather";
const ORDER = { allow: [], filesSha256: DIGEST, pipes: 0 };
let house: RemoteHouse;
let credentials: Credentials;
let folder: string;
beforeEach(async () => {
  house = await openRemoteHouse();
  credentials = await house.enrol(NAME);
  folder = mkdtempSync(join(tmpdir(), "hl-"));
});
afterEach(async () => {
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const connected = () => expect.poll(() => house.remote.isConnected(NAME)).toBe(true);
const sockets = () => ({ listen: join(folder, "p.sock"), host: join(folder, "h.sock") });

test("an agent that says goodbye and goes on talking ends its process, and no more", async () => {
  const agent = await openHostileAgent(house, credentials, (stream, path, session) => {
    if (sayOffer(stream, path, { name: NAME })) return;
    stream.respond({ ":status": 200 });
    if (path !== PATHS.process(1)) return;
    session.goaway(0);
    sayLine(stream, { tunnel: 1 });
  });
  await connected();
  const far = house.remote.launch(NAME, ORDER, sockets());
  await far.exited;
  await closed(agent.socket);
  expect(await isServed(house, NAME, credentials)).toBe(true);
});

test("a plugin that is dialled after its agent said goodbye is not there, and the daemon is", async () => {
  const agent = await openHostileAgent(house, credentials, (stream, path, session) => {
    if (sayOffer(stream, path, { name: NAME })) return;
    stream.respond({ ":status": 200 });
    if (path === PATHS.process(1)) setImmediate(() => session.goaway(0));
  });
  await connected();
  const far = house.remote.launch(NAME, ORDER, sockets());
  far.stdout.resume();
  await expect.poll(() => connectTo(sockets().listen)).not.toBe("missing");
  for (let round = 0; round < 50; round += 1) await connectTo(sockets().listen);
  agent.socket.destroy();
  await far.exited;
});

function connectTo(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(path);
  socket.once("error", () => resolve("missing"));
  socket.once("close", () => resolve("closed"));
  socket.once("connect", () => setTimeout(() => socket.destroy(), 5));
  return promise;
}

test("tunnels that an agent announces by the thousand take no more of the daemon than those of one plugin may", async () => {
  let most = 0;
  const host = createServer((socket) => {
    socket.on("error", () => {});
    host.getConnections((_error, count) => {
      most = Math.max(most, count);
    });
  });
  host.listen(sockets().host);
  await once(host, "listening");
  const agent = await openHostileAgent(house, credentials, (stream, path) => {
    if (sayOffer(stream, path, { name: NAME })) return;
    stream.respond({ ":status": 200 });
    if (path === PATHS.process(1)) void announce(stream);
  });
  async function announce(stream: ServerHttp2Stream): Promise<void> {
    for (let tunnel = 1; tunnel <= 5_000; tunnel += 1) {
      sayLine(stream, { tunnel });
      if (tunnel % 20 === 0) await new Promise((done) => setImmediate(done));
    }
    sayLine(stream, { exit: { code: 0 } });
  }
  await connected();
  const far = house.remote.launch(NAME, ORDER, sockets());
  expect(await far.exited).toEqual({ code: 0, signal: null });
  agent.socket.destroy();
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(MAX_TUNNELS);
  host.close();
});

test("a manifest of half a million brackets is refused like any other nonsense", async () => {
  const deep = `${"[".repeat(500_000)}${"]".repeat(500_000)}`;
  const agent = await openHostileAgent(house, credentials, (stream, path) => {
    if (path !== PATHS.agent) return;
    stream.respond({ ":status": 200 });
    stream.write(`{"filesSha256":"${DIGEST}","manifest":{"name":"${NAME}","x":${deep}}}\n`);
  });
  await closed(agent.socket);
  expect(house.offers).toEqual([]);
  expect(house.lines.join("\n")).toContain(`"${NAME}"`);
  expect(await isServed(house, NAME, credentials)).toBe(true);
});

test("origins that nobody asked for are not collected", async () => {
  const agent = await openHostileAgent(house, credentials, (stream, path, session) => {
    sayOffer(stream, path, { name: NAME });
    session.origin("https://a.example", "https://b.example");
  });
  await closed(agent.socket);
});
