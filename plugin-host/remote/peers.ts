import { createHash, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { oneByOne } from "../../core/domain/one-by-one.ts";
import { readOwnFile, writeOwnFile } from "./own-file.ts";
import { fieldOf, numberOf, textOf } from "./wire.ts";

const FILE_VERSION = 1;
const SECRET_BYTES = 32;
/** The certificate in use and the one that takes its place: until it was seen, the old one counts too. */
const SERIALS_MAX = 2;
const PEERS_MAX = 1_000;

/** A remote plugin that a person let in, or is about to. */
export type Peer = {
  readonly name: string;
  /** Where its agent listens, "HOST:PORT"; empty for one that dials in. */
  readonly address: string;
  /** It may keep values and artifacts here and ask people, which a plugin of this machine may without being asked about. */
  readonly services: boolean;
  /** The certificates that count, the newest last; none before it is enrolled. */
  readonly certificates: readonly { readonly serial: string; readonly untilMs: number }[];
  /** The one-time secret that is out, as a digest; undefined when none is. */
  readonly invitation: { readonly sha256: string; readonly untilMs: number } | undefined;
};

/** Who may connect, kept in a file. A certificate that does not stand here is refused, whoever signed it. */
export type Peers = {
  all(): readonly Peer[];
  find(name: string): Peer | undefined;
  /** Lets somebody enrol who shows the secret in time; an older secret of that name is void. */
  invite(
    name: string,
    terms: Pick<Peer, "address" | "services">,
    untilMs: number,
  ): Promise<Result<{ readonly secret: string }>>;
  /** Uses a secret up. Wrong, expired and used ones are `denied` in the same words. */
  redeem(name: string, secret: string): Promise<Result<void>>;
  /** Makes a certificate count: the only one of its name after an enrolment, beside the last one after a renewal. */
  add(name: string, certificate: Peer["certificates"][number], isRenewal: boolean): Promise<Result<void>>;
  /** False when there was none. What it held counts no more from now on. */
  remove(name: string): Promise<Result<boolean>>;
};

export type PeersParts = {
  /** Folder of the file; there already. */
  readonly dir: string;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

export async function openPeers({ dir, now, random }: PeersParts): Promise<Result<Peers>> {
  const file = join(dir, "peers.json");
  const read = await readPeers(file);
  if (!read.ok) return read;
  let peers = read.value;
  /** Changes happen one after the other, on disk before they count; what takes away counts at once. */
  const change = oneByOne();
  const keep = async (next: ReadonlyMap<string, Peer>): Promise<Result<void>> => {
    try {
      await writeOwnFile(file, `${JSON.stringify({ version: FILE_VERSION, peers: [...next.values()] }, null, 2)}\n`);
    } catch (cause) {
      return fail("unavailable", `${file} cannot be written: ${String(cause)}`, {
        hint: "look at the free space and at the rights of its folder",
        cause,
      });
    }
    peers = next;
    return ok(undefined);
  };
  const put = (peer: Peer) => keep(new Map(peers).set(peer.name, peer));

  return ok({
    all: () => [...peers.values()].sort((left, right) => (left.name < right.name ? -1 : 1)),
    find: (name) => peers.get(name),
    invite: (name, terms, untilMs) =>
      change(async () => {
        const before = peers.get(name);
        if (before === undefined && peers.size >= PEERS_MAX) {
          return fail("exhausted", `${PEERS_MAX} remote plugins are enrolled`, { hint: "claw plugin unenrol NAME" });
        }
        const secret = Buffer.from(random(SECRET_BYTES)).toString("base64url");
        const invitation = { sha256: digest(secret).toString("hex"), untilMs };
        const kept = await put({ name, certificates: [], ...before, ...terms, invitation });
        return kept.ok ? ok({ secret }) : kept;
      }),
    redeem: (name, secret) =>
      change(async () => {
        const peer = peers.get(name);
        // The work is the same whether or not there is something to compare with.
        const expected = Buffer.from(peer?.invitation?.sha256 ?? "0".repeat(64), "hex");
        const isSame = timingSafeEqual(digest(secret), expected);
        if (peer?.invitation === undefined || !isSame || peer.invitation.untilMs <= now()) return uninvited(name);
        return put({ ...peer, invitation: undefined });
      }),
    add: (name, certificate, isRenewal) =>
      change(async () => {
        const peer = peers.get(name);
        if (peer === undefined) return uninvited(name);
        const before = isRenewal ? peer.certificates : [];
        return put({ ...peer, certificates: [...before, certificate].slice(-SERIALS_MAX) });
      }),
    remove: (name) =>
      change(async () => {
        const next = new Map(peers);
        const wasThere = next.delete(name);
        // Also when it cannot be written: until the next start at least it is gone.
        peers = next;
        const kept = await keep(next);
        return kept.ok ? ok(wasThere) : kept;
      }),
  });
}

function uninvited(name: string): Failed {
  return fail("denied", `the token for plugin "${name}" is wrong, used or expired`, {
    hint: `make a new one on the daemon's machine: claw plugin enrol ${name}`,
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

async function readPeers(file: string): Promise<Result<ReadonlyMap<string, Peer>>> {
  const hint = `remove ${file} and enrol each remote plugin again`;
  try {
    const text = await readOwnFile(file);
    if (text === undefined) return ok(new Map());
    const listed = fieldOf(JSON.parse(text), "peers");
    const peers = Array.isArray(listed) ? listed.map(readPeer) : [undefined];
    if (peers.every((peer) => peer !== undefined)) return ok(new Map(peers.map((peer) => [peer.name, peer])));
    return fail("corrupt", `${file} is not of the expected form, so no remote plugin can connect`, { hint });
  } catch (cause) {
    return fail("corrupt", `${file} cannot be read, so no remote plugin can connect: ${String(cause)}`, {
      hint,
      cause,
    });
  }
}

function readPeer(value: unknown): Peer | undefined {
  const [name, address, listed] = [textOf(value, "name"), textOf(value, "address"), fieldOf(value, "certificates")];
  if (name === undefined || address === undefined || !Array.isArray(listed)) return undefined;
  const certificates = listed.flatMap((one) => {
    const [serial, untilMs] = [textOf(one, "serial"), numberOf(one, "untilMs")];
    return serial === undefined || untilMs === undefined ? [] : [{ serial, untilMs }];
  });
  const invited = fieldOf(value, "invitation");
  const [sha256, untilMs] = [textOf(invited, "sha256"), numberOf(invited, "untilMs")];
  const invitation = sha256 === undefined || untilMs === undefined ? undefined : { sha256, untilMs };
  return { name, address, services: fieldOf(value, "services") === true, certificates, invitation };
}
