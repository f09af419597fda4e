import type { TLSSocket } from "node:tls";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { Clock } from "../life/clock.ts";
import { isName, NAME_FORM } from "../manifest/names.ts";
import { openAuthority } from "./authority.ts";
import { dial, repeat } from "./dial.ts";
import { issue, type Registrar, serveEnrolment } from "./enrolment.ts";
import { type FarAgent, openFarAgent } from "./far-agent.ts";
import { type FrontDoor, openFrontDoor, quietLog } from "./front-door.ts";
import { protocolOf, shakeAsClient } from "./handshake.ts";
import { judgePlugin } from "./judge-peer.ts";
import type { FarLaunch } from "./launch-over.ts";
import { dropOffer, keepOffer } from "./offer-folder.ts";
import { openPeers, type Peer } from "./peers.ts";
import { printToken, readAddress } from "./token.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL, type StartOrder } from "./wire.ts";

const REVOKED = "its certificate was revoked";
const LONGEST_INVITATION_MS = 7 * 24 * 60 * 60_000;

export type RemoteSettings = {
  /** Where agents may dial in, "HOST:PORT"; empty when nobody may. */
  readonly listen: string;
  /** What they dial where that is another address; empty for `listen`. */
  readonly address: string;
  /** How long a plugin's certificate holds. */
  readonly certificateMs: number;
};

export type RemoteParts = RemoteSettings & {
  /** For keys, peers and what they bring; absolute, out of every plugin's reach. */
  readonly dir: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
  /** What an agent brings lies in a folder now. */
  readonly onOffer: (name: string, folder: string) => Promise<void>;
};

export type RemoteRow = {
  readonly name: string;
  readonly isConnected: boolean;
  /** Where its agent listens; empty for one that dials in. */
  readonly address: string;
  /** When its certificate runs out, milliseconds since 1970-01-01 UTC; 0 before it is enrolled. */
  readonly untilMs: number;
};

/** `address` is where the agent listens, "HOST:PORT"; empty for one that dials in. For `services` see `Peer`. */
export type Terms = Pick<Peer, "address" | "services">;
export type Invitation = { readonly token: string; readonly untilMs: number };

/** The plugins of other machines: who they are, and the connections to them. */
export type RemotePlugins = {
  /** Where agents dial in; empty when nobody can. */
  readonly address: string;
  list(): readonly RemoteRow[];
  isConnected(name: string): boolean;
  /** True when it may use more of the host than to log, to show progress, and what it was granted by name. */
  hasServices(name: string): boolean;
  /** Makes a token by which one agent can enrol within `lifeMs`. */
  enrol(name: string, terms: Terms, lifeMs: number): Promise<Result<Invitation>>;
  /** Takes its certificates and its connection away, both at once. */
  unenrol(name: string): Promise<Result<void>>;
  /** Starts its process at the other end. Throws when no agent is connected. */
  launch(name: string, order: StartOrder, sockets: FarLaunch["sockets"]): LeasedProcess;
  close(): Promise<void>;
};

export async function openRemotePlugins(parts: RemoteParts): Promise<Result<RemotePlugins>> {
  const { dir, clock, random, log, listen } = parts;
  const authority = await openAuthority({ dir, now: clock.now, random });
  if (!authority.ok) return authority;
  const peers = await openPeers({ dir, now: clock.now, random });
  if (!peers.ok) return peers;
  const registrar: Registrar = { authority: authority.value, peers: peers.value, lifeMs: parts.certificateMs };
  const agents = new Map<string, FarAgent>();
  /** Nobody is let in any more; then every line is cut. */
  const ending = new AbortController();
  const closing = new AbortController();
  const dialling = new Map<string, { readonly abort: AbortController; readonly over: Promise<void> }>();

  const complain = quietLog(log, clock.now);
  /** What agents brought and is being kept. */
  const keeping = new Set<Promise<void>>();
  const receiving = { ...parts, registrar, agents, keeping, complain, signal: ending.signal };
  const receive = (socket: TLSSocket) => receiveAgent(receiving, socket);

  const dialOnce = async ({ name, address, certificates, invitation }: Peer, signal: AbortSignal) => {
    const isInvited = invitation !== undefined && invitation.untilMs > clock.now();
    if (!isInvited && certificates.length === 0) return;
    const protocol = isInvited ? ENROL_PROTOCOL : LINK_PROTOCOL;
    const own = await authority.value.credentials();
    const socket = await dial(address, signal);
    if (!own.ok || !socket.ok) {
      if (socket.ok) socket.value.destroy();
      return;
    }
    const onAbort = () => void socket.value.destroy();
    signal.addEventListener("abort", onAbort, { once: true });
    const shaken = await shakeAsClient(socket.value, { credentials: own.value, protocols: [protocol] });
    if (shaken.ok) {
      await receive(shaken.value);
      await agents.get(name)?.closed;
    }
    signal.removeEventListener("abort", onAbort);
  };

  /** Keeps a connection to an agent that listens. */
  const keepDialling = ({ name, address }: Peer) => {
    if (address === "" || closing.signal.aborted) return;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, closing.signal]);
    const attempt = async () => {
      const peer = peers.value.find(name);
      if (peer === undefined || peer.address !== address) return;
      await dialOnce(peer, signal).catch((cause: unknown) =>
        complain(`the agent of "${name}" could not be served: ${String(cause)}`),
      );
    };
    const jitter = () => Buffer.from(random(4)).readUInt32LE() / 2 ** 32;
    dialling.set(name, { abort, over: repeat(attempt, { clock, jitter, signal }) });
  };
  const stopDialling = async (name: string) => {
    const mine = dialling.get(name);
    dialling.delete(name);
    mine?.abort.abort();
    await mine?.over;
  };

  let door: FrontDoor | undefined;
  if (listen !== "") {
    const opened = await openFrontDoor({
      ...{ listen, receive, log: complain, now: clock.now },
      credentials: authority.value.credentials,
    });
    if (!opened.ok) return opened;
    door = opened.value;
    log(`remote plugins may dial in at ${door.address}`);
  }
  for (const peer of peers.value.all()) keepDialling(peer);
  const address = door === undefined ? "" : parts.address === "" ? door.address : parts.address;

  return ok({
    address,
    list: () =>
      peers.value.all().map((peer) => ({
        name: peer.name,
        isConnected: agents.has(peer.name),
        address: peer.address,
        untilMs: peer.certificates.at(-1)?.untilMs ?? 0,
      })),
    isConnected: (name) => agents.has(name),
    hasServices: (name) => peers.value.find(name)?.services === true,
    async enrol(name, terms, lifeMs) {
      const at = terms.address;
      const wrong = judgeInvitation(name, at, lifeMs, address);
      if (wrong !== undefined) return { ok: false, failure: wrong };
      const untilMs = clock.now() + lifeMs;
      const invited = await peers.value.invite(name, terms, untilMs);
      if (!invited.ok) return invited;
      const { fingerprint } = authority.value;
      const dialled = at === "" ? address : "";
      const token = printToken({ name, address: dialled, fingerprint, secret: invited.value.secret });
      await stopDialling(name);
      const peer = peers.value.find(name);
      if (peer !== undefined) keepDialling(peer);
      return ok({ token, untilMs });
    },
    async unenrol(name) {
      const removed = await peers.value.remove(name);
      const agent = agents.get(name);
      agent?.dismiss("it was unenrolled", true);
      // It hears why before the line is cut.
      await agent?.closed;
      await stopDialling(name);
      await dropOffer(dir, name);
      if (!removed.ok) return removed;
      if (removed.value) return ok(undefined);
      const names = peers.value.all().map((peer) => peer.name);
      return fail("not_found", `no remote plugin "${name}" is enrolled`, {
        hint: names.length === 0 ? "none is: claw plugin enrol NAME" : `there are: ${names.join(", ")}`,
      });
    },
    launch(name, order, sockets) {
      const agent = agents.get(name);
      if (agent === undefined) throw new Error("its agent is not connected");
      return agent.launch(order, sockets);
    },
    async close() {
      ending.abort();
      const connected = [...agents.values()];
      for (const agent of connected) agent.dismiss("the daemon ends");
      await Promise.all(connected.map(({ closed }) => closed));
      closing.abort();
      door?.close();
      await Promise.all([...dialling.values()].map(({ over }) => over));
      await Promise.all(keeping);
    },
  });
}

type ReceiveParts = RemoteParts & {
  readonly registrar: Registrar;
  readonly agents: Map<string, FarAgent>;
  readonly keeping: Set<Promise<void>>;
  /** Writes a line about somebody who was not let in. */
  readonly complain: (line: string) => void;
  readonly signal: AbortSignal;
};

/** Looks at who is behind a handshake: one that enrols, one that may connect, or nobody of ours. */
async function receiveAgent(parts: ReceiveParts, socket: TLSSocket): Promise<void> {
  const { registrar, agents, keeping, clock, log, complain, signal } = parts;
  if (protocolOf(socket) === ENROL_PROTOCOL) {
    const enrolled = await serveEnrolment(socket, registrar);
    if (enrolled.ok) {
      log(`remote plugin "${enrolled.value.name}" is enrolled`);
      // An agent of that name with the certificate before is not it any more.
      agents.get(enrolled.value.name)?.dismiss("another agent was enrolled in its place");
    } else complain(`an agent was not enrolled: ${enrolled.failure.message}`);
    return;
  }
  const shown = judgePlugin(socket, clock.now());
  if (!shown.ok) {
    complain(`an agent was refused: ${shown.failure.message}`);
    socket.destroy();
    return;
  }
  const { name, serial, untilMs } = shown.value;
  const agent = openFarAgent(socket, {
    leftMs: untilMs - clock.now(),
    renew: async (request) => {
      // Only while the one that it holds counts.
      if (!isCounted(registrar.peers.find(name), serial)) return undefined;
      const issued = await issue(registrar, name, request, { isRenewal: true });
      if (issued.ok) log(`remote plugin "${name}" has a new certificate`);
      return issued.ok ? issued.value : undefined;
    },
  });
  const because = signal.aborted
    ? "the daemon ends"
    : !isCounted(registrar.peers.find(name), serial)
      ? REVOKED
      : agents.has(name)
        ? "another agent of that name is connected"
        : undefined;
  if (because !== undefined) {
    complain(`an agent of "${name}" was refused: ${because}`);
    agent.dismiss(because, because === REVOKED);
    return;
  }
  agents.set(name, agent);
  log(`remote plugin "${name}" is connected`);
  void agent.closed.then(() => {
    agents.delete(name);
    log(`remote plugin "${name}" is not connected any more`);
  });
  const kept = takeOffer(parts, name, agent)
    .catch((cause: unknown) => {
      log(`what remote plugin "${name}" brings cannot be taken: ${String(cause)}`);
      agent.dismiss("what it brings cannot be taken");
    })
    .finally(() => keeping.delete(kept));
  keeping.add(kept);
}

async function takeOffer({ dir, log, onOffer }: ReceiveParts, name: string, agent: FarAgent): Promise<void> {
  const offer = await agent.offered;
  if (offer === undefined) return;
  const kept = await keepOffer(dir, name, offer);
  if (kept.ok) {
    await onOffer(name, kept.value);
    return;
  }
  log(`remote plugin "${name}" was sent away: ${kept.failure.message}`);
  agent.dismiss(kept.failure.message);
}

function isCounted(peer: Peer | undefined, serial: string): boolean {
  return peer?.certificates.some((one) => one.serial === serial) === true;
}

function judgeInvitation(name: string, at: string, lifeMs: number, address: string): Failure | undefined {
  if (!isName(name)) return { code: "invalid", message: `the name ${JSON.stringify(name)} ${NAME_FORM}` };
  if (lifeMs < 1_000 || lifeMs > LONGEST_INVITATION_MS) {
    return { code: "invalid", message: "a token holds from a second to seven days", hint: "for example --ttl 10m" };
  }
  if (at !== "") {
    const read = readAddress(at);
    return read.ok ? undefined : read.failure;
  }
  if (address !== "") return undefined;
  return {
    code: "conflict",
    message: "nobody can dial in: the port for remote plugins is closed",
    hint: 'write listen = "HOST:PORT" below [remote] in config.toml and restart the daemon, or have the agent listen: --at HOST:PORT',
  };
}
