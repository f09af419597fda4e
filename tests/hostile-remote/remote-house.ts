import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { certain } from "../../plugin-host/fixtures/far-place.ts";
import { machineClock } from "../../plugin-host/life/clock.ts";
import type { Credentials } from "../../plugin-host/remote/certificate.ts";
import { makeRequest } from "../../plugin-host/remote/certificate.ts";
import { openRemotePlugins, type RemoteParts, type RemotePlugins } from "../../plugin-host/remote/remote-plugins.ts";
import { readToken } from "../../plugin-host/remote/token.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL, LINK_SETTINGS, PATHS, sayLine } from "../../plugin-host/remote/wire.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const DIGEST = "0".repeat(64);

/** The daemon's side of remote plugins in this process, on loopback. */
export type RemoteHouse = {
  readonly remote: RemotePlugins;
  readonly dir: string;
  readonly port: number;
  /** What the daemon's log says. */
  readonly lines: string[];
  /** The folders of what agents brought, in the order of their coming. */
  readonly offers: string[];
  /** Puts the daemon's clock forward, or back. */
  skip(ms: number): void;
  /** The text of a token. */
  invite(name: string): Promise<string>;
  /** What an agent holds after its enrolment. */
  enrol(name: string): Promise<Credentials>;
  close(): Promise<void>;
};

export async function openRemoteHouse(change: Partial<RemoteParts> = {}): Promise<RemoteHouse> {
  const dir = mkdtempSync(join(tmpdir(), "hostile-remote-"));
  const lines: string[] = [];
  const offers: string[] = [];
  let aheadMs = 0;
  const remote = certain(
    await openRemotePlugins({
      ...{ dir, listen: "127.0.0.1:0", address: "", certificateMs: 30 * DAY_MS, random: randomBytes },
      clock: machineClock(() => Date.now() + aheadMs),
      log: (line) => void lines.push(line),
      onOffer: async (_name, folder) => void offers.push(folder),
      ...change,
    }),
  );
  const port = Number(remote.address.split(":").at(-1));
  const invite = async (name: string) =>
    certain(await remote.enrol(name, { address: "", services: false }, 10 * MINUTE_MS)).token;
  return {
    ...{ remote, dir, port, lines, offers, invite },
    skip: (ms) => {
      aheadMs += ms;
    },
    async enrol(name) {
      const { secret } = certain(readToken(await invite(name)));
      const { key, request } = await makeRequest();
      const answer = await sayToEnrol(port, { name, secret, request });
      const { certificate } = JSON.parse(answer) as { certificate: string };
      return { key, certificate, authority: "" };
    },
    async close() {
      await remote.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** One line to whom enrols, and the line that comes back; empty when the connection ends without one. */
export async function sayToEnrol(port: number, said: unknown): Promise<string> {
  const socket = await dialTls(port, { ALPNProtocols: [ENROL_PROTOCOL] });
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once("data", (data: Buffer) => resolve(data.toString()));
  socket.once("close", () => resolve(""));
  sayLine(socket, said);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** A handshake with whatever one shows. Rejects when it is refused. */
export function dialTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const base = { port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [LINK_PROTOCOL] };
  const socket = connectTls({ ...base, ...options });
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("it was closed")));
  socket.once("secureConnect", () => resolve(socket));
  return promise;
}

export function dialAs(port: number, { key, certificate }: Credentials): Promise<TLSSocket> {
  return dialTls(port, { key, cert: certificate });
}

/** A plain connection; its errors are nobody's. */
export function dialPlain(port: number): Socket {
  const socket = connectPlain(port, "127.0.0.1");
  socket.on("error", () => {});
  return socket;
}

export function closed(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (socket.closed) resolve();
  else socket.once("close", () => resolve());
  return promise;
}

/** What a hostile agent does with each stream that the daemon opens; `session` is HTTP/2 as a server speaks it. */
export type HostileAgent = {
  readonly socket: TLSSocket;
  readonly session: ServerHttp2Session;
};

/** Speaks HTTP/2 with the daemon, says an honest offer, and leaves every other stream to the test. */
export async function openHostileAgent(
  house: RemoteHouse,
  credentials: Credentials,
  onStream: (stream: ServerHttp2Stream, path: string, session: ServerHttp2Session) => void,
): Promise<HostileAgent> {
  const socket = await dialAs(house.port, credentials);
  const session = performServerHandshake(socket, { settings: { ...LINK_SETTINGS, maxConcurrentStreams: 1_000_000 } });
  session.on("error", () => {});
  session.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    onStream(stream, String(headers[":path"]), session);
  });
  return { socket, session };
}

/** Answers the stream on which an agent says what it brings. */
export function sayOffer(stream: ServerHttp2Stream, path: string, manifest: unknown): boolean {
  if (path !== PATHS.agent) return false;
  stream.respond({ ":status": 200 });
  sayLine(stream, { manifest, filesSha256: DIGEST });
  return true;
}

/** True when a new, honest connection of that plugin is taken. */
export async function isServed(house: RemoteHouse, name: string, credentials: Credentials): Promise<boolean> {
  const agent = await openHostileAgent(house, credentials, (stream, path) => void sayOffer(stream, path, { name }));
  const deadline = AbortSignal.timeout(20_000);
  while (!house.remote.isConnected(name) && !deadline.aborted && !agent.socket.destroyed) {
    await new Promise((done) => setImmediate(done));
  }
  const served = house.remote.isConnected(name);
  agent.socket.destroy();
  return served;
}
