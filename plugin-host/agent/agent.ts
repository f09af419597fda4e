import { createServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { openTokenBucket } from "../../core/domain/token-bucket.ts";
import type { Clock } from "../life/clock.ts";
import { jitterFrom } from "../life/jitter.ts";
import { type Credentials, makeAuthority } from "../remote/certificate.ts";
import { dial, repeat } from "../remote/dial.ts";
import { askToEnrol } from "../remote/enrolment.ts";
import { shakeAsClient, shakeAsServer } from "../remote/handshake.ts";
import { judgeDaemon, judgePinned } from "../remote/judge-peer.ts";
import { readAddress, readToken, type Token } from "../remote/token.ts";
import { makeRoom, openWaitingRoom } from "../remote/waiting-room.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL } from "../remote/wire.ts";
import type { BroughtPlugin } from "./brought-plugin.ts";
import { type AgentIdentity, expiryOf, readIdentity, writeIdentity } from "./identity.ts";
import { serveLink } from "./serve-link.ts";

/** Connections that spoke and have not shown yet who they are. The oldest makes room for the next: an honest one is soon through. */
const MAX_STRANGERS = 16;
const HANDSHAKES_AT_ONCE = 32;
const HANDSHAKES_PER_SECOND = 8;
/** For a listening agent without a certificate: its daemon knows it by the token, not by this. */
const NOBODY_LIFE_MS = 24 * 60 * 60_000;

export type AgentParts = {
  readonly plugin: BroughtPlugin;
  /** For its key and certificate, private; absolute. */
  readonly stateDir: string;
  /** For sockets, private; absolute and short. */
  readonly runtimeDir: string;
  /** An enrolment token; empty for none. */
  readonly token: string;
  /** "HOST:PORT" where the daemon dials; empty when this agent dials the daemon. */
  readonly listen: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: (line: string) => void;
  /** Hears where it listens, once it does. */
  readonly onListening: (address: string) => void;
};

/** Serves a daemon until the signal aborts. The value is a failure that no waiting would mend. */
export async function runAgent(parts: AgentParts, signal: AbortSignal): Promise<Result<void>> {
  const { plugin, stateDir, token } = parts;
  const kept = await readIdentity(stateDir);
  if (!kept.ok && token === "") return kept;
  const read = token === "" ? undefined : readToken(token);
  if (read !== undefined && !read.ok) return read;
  const name = read?.value.name ?? (kept.ok ? kept.value?.name : undefined);
  if (name === undefined) {
    return fail("denied", `the agent of plugin "${plugin.name}" is not enrolled`, {
      hint: `on the daemon's machine: claw plugin enrol ${plugin.name}; then start the agent with --token TOKEN`,
    });
  }
  if (name !== plugin.name) {
    return fail("conflict", `the plugin in the folder is "${plugin.name}", and "${name}" was enrolled`, {
      hint: `claw plugin enrol ${plugin.name}`,
    });
  }
  const identity = kept.ok ? kept.value : undefined;
  return parts.listen === ""
    ? dialIn(parts, read?.value, identity, signal)
    : serveListening(parts, read?.value, identity, signal);
}

/** Dials the daemon, and again whenever the connection is over. */
async function dialIn(
  parts: AgentParts,
  token: Token | undefined,
  kept: AgentIdentity | undefined,
  signal: AbortSignal,
): Promise<Result<void>> {
  let identity = kept;
  let outcome: Result<void> = ok(undefined);
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const giveUp = (failure: Failure) => {
    outcome = { ok: false, failure };
    over.abort();
  };
  if (token !== undefined) {
    if (token.address === "") {
      return fail("conflict", "the token is for an agent that listens", { hint: "start it with --listen HOST:PORT" });
    }
    const enrolled = await enrolByDialling(parts, token, both);
    if (!enrolled.ok) return enrolled;
    identity = enrolled.value;
  }
  if (identity === undefined) throw new Error("an agent without a token was not enrolled either");
  let own: AgentIdentity = identity;
  const attempt = async () => {
    const valid = expiryOf(own, parts.clock.now());
    if (!valid.ok) return giveUp(valid.failure);
    const socket = await dial(own.address, both);
    if (!socket.ok) return parts.log(socket.failure.message);
    const shaken = await shakeAsClient(socket.value, { credentials: own, protocols: [LINK_PROTOCOL] });
    if (!shaken.ok) return parts.log(shaken.failure.message);
    const judged = judgeDaemon(shaken.value, parts.clock.now());
    if (!judged.ok) {
      shaken.value.destroy();
      return parts.log(`what listens at ${own.address} was refused: ${judged.failure.message}`);
    }
    parts.log(`connected to ${own.address}`);
    const because = await serve(parts, shaken.value, own, both, (next) => {
      own = next;
    });
    if (because !== undefined) giveUp(because);
  };
  const jitter = jitterFrom(parts.random);
  await repeat(attempt, { clock: parts.clock, jitter, signal: both });
  return outcome;
}

/** What listens for the daemon knows of itself: who it is, or by which token it will be. */
type Listener = {
  own: AgentIdentity | undefined;
  invited: Token | undefined;
  /** For handshakes before it is somebody. */
  readonly nobody: Credentials | undefined;
  /** The connection that is served. */
  present: TLSSocket | undefined;
  readonly over: (outcome: Result<void>) => void;
};

/** Waits for the daemon, which dials. */
async function serveListening(
  parts: AgentParts,
  token: Token | undefined,
  kept: AgentIdentity | undefined,
  signal: AbortSignal,
): Promise<Result<void>> {
  const at = readAddress(parts.listen);
  if (!at.ok) return at;
  const outcome = Promise.withResolvers<Result<void>>();
  const listener: Listener = {
    own: token === undefined ? kept : undefined,
    invited: token,
    nobody: token === undefined ? undefined : await makeNobody(parts),
    present: undefined,
    over: outcome.resolve,
  };
  const budget = openTokenBucket(HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND, parts.clock.now);
  const sockets = new Set<Socket>();
  const waiting = openWaitingRoom();
  const strangers = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    waiting.admit(socket, () => meet(socket));
  });
  const meet = (socket: Socket) => {
    if (!budget.take(1)) return void socket.destroy();
    makeRoom(strangers, MAX_STRANGERS);
    strangers.add(socket);
    receive(parts, listener, socket)
      .finally(() => strangers.delete(socket))
      .then((secured) => serveCaller(parts, listener, secured, signal))
      .catch((cause: unknown) => {
        parts.log(`a caller could not be served: ${String(cause)}`);
        socket.destroy();
      });
  };
  server.on("error", (cause) => {
    const message = `nobody can listen on ${parts.listen}: ${cause.message}`;
    listener.over(fail("unavailable", message, { hint: "name another address", cause }));
  });
  server.listen({ host: at.value.host, port: at.value.port }, () => {
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : at.value.port;
    parts.onListening(parts.listen.replace(/:\d+$/, `:${port}`));
  });
  const onAbort = () => listener.over(ok(undefined));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const result = await outcome.promise;
  signal.removeEventListener("abort", onAbort);
  server.close();
  for (const socket of sockets) socket.destroy();
  return result;
}

/** Shakes hands with a caller; the value is the connection that is to be served, when it is the daemon's. */
async function receive(parts: AgentParts, listener: Listener, socket: Socket): Promise<TLSSocket | undefined> {
  const { own, invited } = listener;
  const credentials: Credentials | undefined = own ?? listener.nobody;
  if (credentials === undefined) throw new Error("an agent without a token was not enrolled either");
  if (own !== undefined) {
    const valid = expiryOf(own, parts.clock.now());
    if (!valid.ok) listener.over(valid);
  }
  const protocol = own === undefined ? ENROL_PROTOCOL : LINK_PROTOCOL;
  const shaken = await shakeAsServer(socket, { credentials, protocols: [protocol] });
  if (!shaken.ok) return undefined;
  if (own === undefined) {
    if (invited === undefined) throw new Error("nobody is enrolled without a token");
    const enrolled = await enrolOver(parts, shaken.value, invited);
    if (!enrolled.ok) parts.log(`not enrolled: ${enrolled.failure.message}`);
    else Object.assign(listener, { own: enrolled.value, invited: undefined });
    return undefined;
  }
  const judged = judgeDaemon(shaken.value, parts.clock.now());
  if (judged.ok) return shaken.value;
  parts.log(`a caller was refused: ${judged.failure.message}`);
  shaken.value.destroy();
  return undefined;
}

async function serveCaller(
  parts: AgentParts,
  listener: Listener,
  secured: TLSSocket | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (secured === undefined || listener.own === undefined) return;
  // The daemon knows best: one that comes again has lost the connection before.
  listener.present?.destroy();
  listener.present = secured;
  parts.log("the daemon is connected");
  const because = await serve(parts, secured, listener.own, signal, (next) => {
    listener.own = next;
  });
  if (because !== undefined) listener.over({ ok: false, failure: because });
}

/** Serves a connection to its end. A failure is why there need not be another. */
async function serve(
  parts: AgentParts,
  socket: TLSSocket,
  identity: AgentIdentity,
  signal: AbortSignal,
  onRenewed: (next: AgentIdentity) => void,
): Promise<Failure | undefined> {
  let own = identity;
  const onAbort = () => void socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const end = await serveLink(socket, {
    ...parts,
    credentials: () => own,
    onRenewed: async (credentials) => {
      const next = { ...own, ...credentials };
      const written = await writeIdentity(parts.stateDir, next);
      if (!written.ok) throw new Error(written.failure.message, { cause: written.failure });
      own = next;
      onRenewed(next);
      parts.log("the certificate is renewed");
    },
  });
  signal.removeEventListener("abort", onAbort);
  if (!end.forGood) return undefined;
  return {
    code: "denied",
    message: `the daemon sent the agent of plugin "${own.name}" away: ${end.because}`,
    hint: `on the daemon's machine: claw plugin enrol ${own.name}; then start the agent with --token TOKEN`,
  };
}

async function enrolByDialling(parts: AgentParts, token: Token, signal: AbortSignal): Promise<Result<AgentIdentity>> {
  const socket = await dial(token.address, signal);
  if (!socket.ok) return socket;
  const shaken = await shakeAsClient(socket.value, { credentials: undefined, protocols: [ENROL_PROTOCOL] });
  return shaken.ok ? enrolOver(parts, shaken.value, token) : shaken;
}

/** Shows the token to a daemon that has proved to be the one it is from, and keeps what comes back. */
async function enrolOver(
  { clock, stateDir, log }: AgentParts,
  socket: TLSSocket,
  token: Token,
): Promise<Result<AgentIdentity>> {
  const authority = judgePinned(socket, token.fingerprint, clock.now());
  if (!authority.ok) {
    socket.destroy();
    return authority;
  }
  const credentials = await askToEnrol(socket, token, authority.value);
  if (!credentials.ok) return credentials;
  const identity = { ...credentials.value, name: token.name, address: token.address };
  const written = await writeIdentity(stateDir, identity);
  if (!written.ok) return written;
  log(`enrolled as plugin "${token.name}"`);
  return ok(identity);
}

async function makeNobody({ clock, random }: AgentParts): Promise<Credentials> {
  const nowMs = clock.now();
  const made = await makeAuthority({ fromMs: nowMs, untilMs: nowMs + NOBODY_LIFE_MS }, random);
  return { ...made, authority: made.certificate };
}
