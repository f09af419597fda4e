import { type Failed, type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { Clock } from "../life/clock.ts";
import { isName, NAME_FORM } from "../manifest/names.ts";
import { openAuthority } from "./authority.ts";
import { connectedAgents } from "./connected-agents.ts";
import { dialAgents } from "./dialled-agents.ts";
import type { Registrar } from "./enrolment.ts";
import { openFrontDoor, quietLog } from "./front-door.ts";
import type { FarLaunch } from "./launch-over.ts";
import { dropOffer } from "./offer-folder.ts";
import { openPeers, type Peer } from "./peers.ts";
import { printToken, readAddress } from "./token.ts";
import type { StartOrder } from "./wire.ts";

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
  const opened = await openAuthority({ dir, now: clock.now, random });
  if (!opened.ok) return opened;
  const authority = opened.value;
  const read = await openPeers({ dir, now: clock.now, random });
  if (!read.ok) return read;
  const peers = read.value;
  const complain = quietLog(log, clock.now);
  const registrar: Registrar = { authority, peers, lifeMs: parts.certificateMs };
  const connected = connectedAgents({ ...parts, registrar, complain });
  const { receive } = connected;
  const dialled = dialAgents({
    ...{ clock, random, receive, complain, credentials: authority.credentials, find: peers.find },
    gone: async (name) => connected.find(name)?.closed,
  });
  const door =
    listen === ""
      ? ok(undefined)
      : await openFrontDoor({ listen, receive, log: complain, now: clock.now, credentials: authority.credentials });
  if (!door.ok) return door;
  if (door.value !== undefined) log(`remote plugins may dial in at ${door.value.address}`);
  for (const peer of peers.all()) dialled.keep(peer);
  const address = door.value === undefined ? "" : parts.address || door.value.address;

  return ok({
    address,
    list: () => peers.all().map((peer) => rowOf(peer, connected.find(peer.name) !== undefined)),
    isConnected: (name) => connected.find(name) !== undefined,
    hasServices: (name) => peers.find(name)?.services === true,
    async enrol(name, terms, lifeMs) {
      const at = terms.address;
      const wrong = judgeInvitation(name, at, lifeMs, address);
      if (wrong !== undefined) return { ok: false, failure: wrong };
      const untilMs = clock.now() + lifeMs;
      const invited = await peers.invite(name, terms, untilMs);
      if (!invited.ok) return invited;
      const { fingerprint } = authority;
      const dialledAt = at === "" ? address : "";
      const token = printToken({ name, address: dialledAt, fingerprint, secret: invited.value.secret });
      await dialled.stop(name);
      const peer = peers.find(name);
      if (peer !== undefined) dialled.keep(peer);
      return ok({ token, untilMs });
    },
    async unenrol(name) {
      const removed = await peers.remove(name);
      const agent = connected.find(name);
      agent?.dismiss("it was unenrolled", true);
      // It hears why before the line is cut.
      await agent?.closed;
      await dialled.stop(name);
      await dropOffer(dir, name);
      if (!removed.ok) return removed;
      return removed.value ? ok(undefined) : nobodyEnrolled(name, peers.all());
    },
    launch(name, order, sockets) {
      const agent = connected.find(name);
      if (agent === undefined) throw new Error("its agent is not connected");
      return agent.launch(order, sockets);
    },
    async close() {
      // They hear why before the lines are cut.
      await connected.sendAway();
      door.value?.close();
      await dialled.close();
      await connected.kept();
    },
  });
}

function rowOf({ name, address, certificates }: Peer, isConnected: boolean): RemoteRow {
  return { name, isConnected, address, untilMs: certificates.at(-1)?.untilMs ?? 0 };
}

function nobodyEnrolled(name: string, peers: readonly Peer[]): Failed {
  const names = peers.map((peer) => peer.name);
  return fail("not_found", `no remote plugin "${name}" is enrolled`, {
    hint: names.length === 0 ? "none is: claw plugin enrol NAME" : `there are: ${names.join(", ")}`,
  });
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
