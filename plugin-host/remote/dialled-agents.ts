import type { TLSSocket } from "node:tls";
import type { Result } from "../../core/domain/failure.ts";
import type { Clock } from "../life/clock.ts";
import { jitterFrom } from "../life/jitter.ts";
import type { Credentials } from "./certificate.ts";
import { dial, repeat } from "./dial.ts";
import { shakeAsClient } from "./handshake.ts";
import type { Peer } from "./peers.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL } from "./wire.ts";

/** Agents that listen, to each of which a connection is kept. */
export type DialledAgents = {
  /** Dials it from now on, again and again; does nothing about an agent that dials in itself. */
  keep(peer: Peer): void;
  /** Dials it no more; resolves when the line that there was is cut. */
  stop(name: string): Promise<void>;
  /** The same for all. */
  close(): Promise<void>;
};

export type DialParts = {
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly credentials: () => Promise<Result<Credentials>>;
  /** The peer as it is known at this moment. */
  readonly find: (name: string) => Peer | undefined;
  /** Looks at who answered; resolves when it is known who that is. The socket is its own from then on. */
  readonly receive: (socket: TLSSocket) => Promise<void>;
  /** Resolves when the agent of that name is connected no more; at once when it is not. */
  readonly gone: (name: string) => Promise<void>;
  readonly complain: (line: string) => void;
};

export function dialAgents(parts: DialParts): DialledAgents {
  const { clock, random, find, complain } = parts;
  const closing = new AbortController();
  const dialling = new Map<string, { readonly abort: AbortController; readonly over: Promise<void> }>();
  const jitter = jitterFrom(random);

  return {
    keep({ name, address }) {
      if (address === "" || closing.signal.aborted) return;
      const abort = new AbortController();
      const signal = AbortSignal.any([abort.signal, closing.signal]);
      const attempt = async () => {
        const peer = find(name);
        if (peer === undefined || peer.address !== address) return;
        await dialOnce(parts, peer, signal).catch((cause: unknown) =>
          complain(`the agent of "${name}" could not be served: ${String(cause)}`),
        );
      };
      dialling.set(name, { abort, over: repeat(attempt, { clock, jitter, signal }) });
    },
    async stop(name) {
      const mine = dialling.get(name);
      dialling.delete(name);
      mine?.abort.abort();
      await mine?.over;
    },
    async close() {
      closing.abort();
      await Promise.all([...dialling.values()].map(({ over }) => over));
    },
  };
}

/** One connection from beginning to end; nothing for an agent that has nothing to show yet. */
async function dialOnce(
  { clock, credentials, receive, gone }: DialParts,
  { name, address, certificates, invitation }: Peer,
  signal: AbortSignal,
): Promise<void> {
  const isInvited = invitation !== undefined && invitation.untilMs > clock.now();
  if (!isInvited && certificates.length === 0) return;
  const protocol = isInvited ? ENROL_PROTOCOL : LINK_PROTOCOL;
  const own = await credentials();
  const socket = await dial(address, signal);
  if (!own.ok || !socket.ok) {
    if (socket.ok) socket.value.destroy();
    return;
  }
  const onAbort = () => void socket.value.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const shaken = await shakeAsClient(socket.value, { credentials: own.value, protocols: [protocol] });
    if (!shaken.ok) return;
    await receive(shaken.value);
    await gone(name);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
