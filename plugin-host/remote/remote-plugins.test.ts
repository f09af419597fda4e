import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { fail, type Result } from "../../core/domain/failure.ts";
import { type AgentParts, runAgent } from "../agent/agent.ts";
import { readIdentity } from "../agent/identity.ts";
import { certain, credentialsOf, openTestAuthority } from "../fixtures/far-place.ts";
import { machineClock } from "../life/clock.ts";
import { openAuthority } from "./authority.ts";
import { makeRequest } from "./certificate.ts";
import { openRemotePlugins, type RemoteParts, type RemotePlugins } from "./remote-plugins.ts";
import { printToken, readToken } from "./token.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL } from "./wire.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TERMS = { address: "", services: false };
const DIGEST = "0".repeat(64);

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type House = {
  readonly remote: RemotePlugins;
  readonly dir: string;
  readonly lines: string[];
  /** Lets time pass for the daemon. */
  skip(ms: number): void;
  token(name: string): Promise<string>;
};

async function openHouse(change: Partial<RemoteParts> = {}): Promise<House> {
  const dir = mkdtempSync(join(tmpdir(), "remote-"));
  const lines: string[] = [];
  let aheadMs = 0;
  const remote = certain(
    await openRemotePlugins({
      ...{ dir, listen: "127.0.0.1:0", address: "", certificateMs: 30 * DAY_MS, random: randomBytes },
      clock: machineClock(() => Date.now() + aheadMs),
      log: (line) => void lines.push(line),
      onOffer: async () => {},
      ...change,
    }),
  );
  closers.push(async () => {
    await remote.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    ...{ remote, dir, lines },
    skip: (ms) => {
      aheadMs += ms;
    },
    token: async (name) => certain(await remote.enrol(name, TERMS, 10 * MINUTE_MS)).token,
  };
}

type TestAgent = {
  readonly ended: Promise<Result<void>>;
  readonly lines: string[];
  readonly stateDir: string;
  readonly listening: Promise<string>;
  stop(): Promise<void>;
};

function startAgent(name: string, change: Partial<AgentParts> = {}, aheadMs = 0): TestAgent {
  const stateDir = mkdtempSync(join(tmpdir(), "agent-"));
  const runtimeDir = mkdtempSync(join(tmpdir(), "ar-"));
  const lines: string[] = [];
  const listening = Promise.withResolvers<string>();
  const ending = new AbortController();
  const ended = runAgent(
    {
      plugin: {
        ...{ name, version: "1.0.0", manifestJson: { name }, filesSha256: DIGEST },
        start: async () => fail("unavailable", "nothing is started here"),
      },
      ...{ stateDir, runtimeDir, token: "", listen: "", random: randomBytes },
      clock: machineClock(() => Date.now() + aheadMs),
      log: (line) => void lines.push(line),
      onListening: listening.resolve,
      ...change,
    },
    ending.signal,
  );
  const stop = async () => {
    ending.abort();
    await ended;
    for (const dir of [stateDir, runtimeDir]) rmSync(dir, { recursive: true, force: true });
  };
  closers.push(stop);
  return { ended, lines, stateDir, listening: listening.promise, stop };
}

/** Dials the house as somebody of one's own making. */
function intrude(house: House, options: ConnectionOptions): Promise<{ socket: TLSSocket; closed: Promise<void> }> {
  const port = Number(house.remote.address.split(":").at(-1));
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: TLSSocket; closed: Promise<void> }>();
  const base = { port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [LINK_PROTOCOL] };
  const socket = connectTls({ ...base, ...options });
  const closed = new Promise<void>((done) => socket.once("close", () => done()));
  socket.on("error", reject);
  socket.once("secureConnect", () => resolve({ socket, closed }));
  socket.resume();
  closers.push(() => void socket.destroy());
  return promise;
}

test("lets an agent in by its token, once, and knows it again afterwards", async () => {
  const house = await openHouse();
  const token = await house.token("weather");
  const agent = startAgent("weather", { token });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  expect(house.remote.list()).toMatchObject([{ name: "weather", isConnected: true, address: "" }]);
  const second = await startAgent("weather", { token }).ended;
  expect(second).toMatchObject({ ok: false, failure: { message: expect.stringContaining("wrong, used or expired") } });
  for (const file of ["authority.key", "peers.json"]) expect(statSync(join(house.dir, file)).mode & 0o777).toBe(0o600);
  await agent.stop();
  await expect.poll(() => house.remote.isConnected("weather")).toBe(false);
});

test("refuses a token after its time", async () => {
  const house = await openHouse();
  const token = await house.token("weather");
  house.skip(11 * MINUTE_MS);
  const ended = await startAgent("weather", { token }, 11 * MINUTE_MS).ended;
  expect(ended).toMatchObject({
    ok: false,
    failure: { code: "denied", hint: expect.stringContaining("claw plugin enrol") },
  });
});

test("refuses a wrong secret, whoever asks, in the same words", async () => {
  const house = await openHouse();
  await house.token("weather");
  const { request } = await makeRequest();
  for (const name of ["weather", "nobody", "../x"]) {
    const { socket } = await intrude(house, { ALPNProtocols: [ENROL_PROTOCOL] });
    const answer = new Promise<string>((done) => socket.once("data", (data: Buffer) => done(data.toString())));
    socket.write(`${JSON.stringify({ name, secret: "a guess", request })}\n`);
    // What could not be a name is not said again, here or in the log.
    const said = name === "../x" ? "" : name;
    expect(JSON.parse(await answer)).toEqual({ problem: `the token for plugin "${said}" is wrong, used or expired` });
  }
  expect(house.remote.list()).toMatchObject([{ untilMs: 0 }]);
});

test("shows its token to no other daemon than the one it is from", async () => {
  const [house, impostor] = [await openHouse(), await openHouse()];
  const token = certain(readToken(await house.token("weather")));
  const led = printToken({ ...token, address: impostor.remote.address });
  const ended = await startAgent("weather", { token: led }).ended;
  expect(ended).toMatchObject({ ok: false, failure: { message: expect.stringContaining("its authority is another") } });
  expect(impostor.lines.join("\n")).not.toContain("wrong");
});

test("refuses who shows no certificate, and one of another authority", async () => {
  const house = await openHouse();
  const { closed } = await intrude(house, {});
  await closed;
  expect(house.lines.at(-1)).toBe("an agent was refused: it shows no certificate");
  const other = await openTestAuthority();
  closers.push(other.close);
  const { key, certificate } = await credentialsOf(other.authority, "clawd://plugin/weather");
  await (await intrude(house, { key, cert: certificate })).closed;
  expect(house.lines.at(-1)).toMatch(/^an agent was refused: its certificate does not hold/);
});

test("refuses a certificate of its own authority that it does not know as that plugin's, or as none", async () => {
  const house = await openHouse();
  await house.token("weather");
  const authority = certain(await openAuthority({ dir: house.dir, now: Date.now, random: randomBytes }));
  const known = await credentialsOf(authority, "clawd://plugin/weather");
  await (await intrude(house, { key: known.key, cert: known.certificate })).closed;
  expect(house.lines.at(-1)).toBe('an agent of "weather" was refused: its certificate was revoked');
  const daemon = certain(await authority.credentials());
  await (await intrude(house, { key: daemon.key, cert: daemon.certificate })).closed;
  expect(house.lines.at(-1)).toBe("an agent was refused: its certificate is not that of a plugin");
});

test("an agent that brings another plugin than its certificate says is sent away", async () => {
  const house = await openHouse();
  const token = await house.token("weather");
  const plugin = { name: "weather", version: "1", manifestJson: { name: "mail" }, filesSha256: DIGEST };
  startAgent("weather", { token, plugin: { ...plugin, start: async () => fail("unavailable", "no") } });
  await expect.poll(() => house.lines.join("\n")).toContain("brings a plugin of another name");
  await expect.poll(() => house.remote.isConnected("weather")).toBe(false);
});

test("an expired certificate is refused by the daemon, and its agent says what to do", async () => {
  const house = await openHouse();
  const agent = startAgent("weather", { token: await house.token("weather") });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  house.skip(31 * DAY_MS);
  // A connection that is cut comes back with what it had.
  const { stateDir } = agent;
  await house.remote.close();
  await expect.poll(() => agent.lines.join("\n")).toContain("not connected");
  const late = startAgent("weather", { stateDir }, 31 * DAY_MS);
  expect(await late.ended).toMatchObject({
    ok: false,
    failure: {
      message: expect.stringContaining("expired on"),
      hint: expect.stringContaining("claw plugin enrol weather"),
    },
  });
});

test("a certificate is renewed at two thirds of its life, and the agent comes again with the new one", async () => {
  const house = await openHouse({ certificateMs: MINUTE_MS });
  const agent = startAgent("weather", { token: await house.token("weather") }, 0);
  await expect.poll(() => agent.lines).toContain("the certificate is renewed");
  expect(house.lines).toContain('remote plugin "weather" has a new certificate');
});

test("what is unenrolled is cut off at once, and stays out", async () => {
  const house = await openHouse();
  const agent = startAgent("weather", { token: await house.token("weather") });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  const process = house.remote.launch("weather", { allow: [], filesSha256: DIGEST, pipes: 0 }, undefined);
  expect(await house.remote.unenrol("weather")).toEqual({ ok: true, value: undefined });
  await process.exited;
  expect(await agent.ended).toMatchObject({ ok: false, failure: { message: expect.stringContaining("unenrolled") } });
  const again = await startAgent("weather", { stateDir: agent.stateDir }).ended;
  expect(again).toMatchObject({ ok: false, failure: { message: expect.stringContaining("revoked") } });
  expect(await house.remote.unenrol("weather")).toMatchObject({ ok: false, failure: { code: "not_found" } });
});

test("of two agents with one name the second is refused, and the first goes on", async () => {
  const house = await openHouse();
  const first = startAgent("weather", { token: await house.token("weather") });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  const second = startAgent("weather", { stateDir: first.stateDir });
  await expect.poll(() => second.lines).toContain("not connected: another agent of that name is connected");
  expect(first.lines.filter((line) => line.startsWith("not connected"))).toEqual([]);
});

test("the end waits for what an agent brought and is being kept", async () => {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const house = await openHouse({
    async onOffer() {
      begun.resolve();
      await release.promise;
      order.push("kept");
    },
  });
  startAgent("weather", { token: await house.token("weather") });
  await begun.promise;
  const ended = house.remote.close().then(() => order.push("ended"));
  await expect.poll(() => house.remote.isConnected("weather")).toBe(false);
  release.resolve();
  await ended;
  expect(order).toEqual(["kept", "ended"]);
});

test("TLS 1.2 is refused", async () => {
  const house = await openHouse();
  await expect(intrude(house, { maxVersion: "TLSv1.2" })).rejects.toThrow();
});

test("garbage is cut off, before and after the handshake, and the next agent is served", async () => {
  const house = await openHouse();
  const port = Number(house.remote.address.split(":").at(-1));
  const noise = connectPlain(port, "127.0.0.1");
  noise.on("error", () => {});
  noise.resume();
  noise.write(randomBytes(4096));
  await new Promise((done) => noise.once("close", done));
  const agent = startAgent("weather", { token: await house.token("weather") });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  const own = certain(await readIdentity(agent.stateDir));
  const kept = { key: own?.key ?? "", cert: own?.certificate ?? "" };
  const { socket, closed } = await intrude(house, kept);
  socket.write(randomBytes(65_536));
  await closed;
  expect(house.remote.isConnected("weather")).toBe(true);
});

test("strangers that say nothing take a few places only, and none from who is connected", async () => {
  const house = await openHouse();
  const agent = startAgent("weather", { token: await house.token("weather") });
  await expect.poll(() => house.remote.isConnected("weather")).toBe(true);
  const port = Number(house.remote.address.split(":").at(-1));
  const silent: Socket[] = [];
  let cut = 0;
  for (let index = 0; index < 300; index += 1) {
    const socket = connectPlain(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.once("close", () => {
      cut += 1;
    });
    socket.resume();
    silent.push(socket);
  }
  await expect.poll(() => cut).toBeGreaterThanOrEqual(300 - 256);
  expect(house.remote.isConnected("weather")).toBe(true);
  for (const socket of silent) socket.destroy();
  await expect.poll(() => cut).toBe(300);
  expect(agent.lines.filter((line) => line.startsWith("not connected"))).toEqual([]);
});

test("an agent that listens is enrolled and dialled, and told when it is cut off", async () => {
  const house = await openHouse({ listen: "" });
  expect(await house.remote.enrol("weather", TERMS, MINUTE_MS)).toMatchObject({
    ok: false,
    failure: { code: "conflict" },
  });
  // The address must be known before the token, so a free port is looked for by listening once.
  const probe = await openHouse();
  const address = probe.remote.address;
  await probe.remote.close();
  const invited = certain(await house.remote.enrol("weather", { address, services: true }, MINUTE_MS));
  const agent = startAgent("weather", { token: invited.token, listen: address });
  expect(await agent.listening).toBe(address);
  await expect.poll(() => house.remote.isConnected("weather"), { timeout: 10_000 }).toBe(true);
  expect(house.remote.hasServices("weather")).toBe(true);
  await house.remote.unenrol("weather");
  expect(await agent.ended).toMatchObject({ ok: false, failure: { message: expect.stringContaining("unenrolled") } });
  expect(house.remote.isConnected("weather")).toBe(false);
});

test("an agent that never enrolled says so, and one with a plugin of another name, too", async () => {
  expect(await startAgent("weather").ended).toMatchObject({
    ok: false,
    failure: { message: 'the agent of plugin "weather" is not enrolled' },
  });
  const house = await openHouse();
  expect(await startAgent("mail", { token: await house.token("weather") }).ended).toMatchObject({
    ok: false,
    failure: { code: "conflict" },
  });
  expect(await startAgent("mail", { token: "nonsense" }).ended).toMatchObject({
    ok: false,
    failure: { code: "invalid" },
  });
});
