import { createServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { openTokenBucket, type TokenBucket } from "../../core/domain/token-bucket.ts";
import type { Credentials } from "./certificate.ts";
import { PROTOCOLS, shakeAsServer } from "./handshake.ts";
import { readAddress } from "./token.ts";
import { makeRoom, openWaitingRoom } from "./waiting-room.ts";

/** Connections that spoke and have not shown yet who they are. The oldest makes room here, too: an honest one is soon through. */
const MAX_STRANGERS = 32;
/** Handshakes at once, and then a second: each is work with keys. */
const HANDSHAKES_AT_ONCE = 64;
const HANDSHAKES_PER_SECOND = 16;
/** The same for one address, so that one that floods leaves room for the others. */
const ADDRESS_AT_ONCE = 32;
const ADDRESS_PER_SECOND = 4;
/** Addresses that are told apart; with more, those that came first are forgotten. */
const MAX_ADDRESSES = 1_024;
/** Lines about strangers in the log, at once and then a second: they must not fill the disk. */
const LINES_AT_ONCE = 50;
const LINES_PER_SECOND = 0.2;

export type FrontDoor = { readonly address: string; close(): void };

export type FrontDoorParts = {
  /** "HOST:PORT"; port 0 takes a free one. */
  readonly listen: string;
  readonly credentials: () => Promise<Result<Credentials>>;
  /** Looks at who came; the stranger's place is free again when it resolves. The socket is its own from then on. */
  readonly receive: (socket: TLSSocket) => Promise<void>;
  readonly now: () => number;
  readonly log: (line: string) => void;
};

/**
 * Listens for agents. Few strangers at a time, each for a short time; whoever is beyond that is cut off unheard. Those who say
 * nothing take no place from those who do.
 */
export async function openFrontDoor(parts: FrontDoorParts): Promise<Result<FrontDoor>> {
  const { listen, credentials, receive, now, log } = parts;
  const at = readAddress(listen);
  if (!at.ok) return at;
  const mayShake = openShakeBudget(now);
  const waiting = openWaitingRoom();
  const sockets = new Set<Socket>();
  const strangers = new Set<Socket>();
  const welcome = async (socket: Socket) => {
    const own = await credentials();
    if (!own.ok) {
      log(`an agent cannot be served: ${own.failure.message}`);
      socket.destroy();
      return;
    }
    const shaken = await shakeAsServer(socket, { credentials: own.value, protocols: PROTOCOLS });
    if (shaken.ok) await receive(shaken.value);
  };
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    waiting.admit(socket, () => meet(socket));
  });
  const meet = (socket: Socket) => {
    if (!mayShake(socket.remoteAddress ?? "")) return void socket.destroy();
    makeRoom(strangers, MAX_STRANGERS);
    strangers.add(socket);
    welcome(socket)
      .catch((cause: unknown) => {
        log(`an agent could not be served: ${String(cause)}`);
        socket.destroy();
      })
      .finally(() => strangers.delete(socket));
  };
  const listening = Promise.withResolvers<Result<FrontDoor>>();
  server.on("error", (cause) => {
    const hint = "name another address as listen in [remote] of config.toml, and restart the daemon";
    listening.resolve(
      fail("unavailable", `nobody can listen for remote plugins on ${listen}: ${cause.message}`, { hint, cause }),
    );
  });
  server.listen({ host: at.value.host, port: at.value.port }, () => {
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : at.value.port;
    listening.resolve(
      ok({
        address: listen.replace(/:\d+$/, `:${port}`),
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      }),
    );
  });
  return listening.promise;
}

/** Whether a handshake with an address may begin now. */
function openShakeBudget(now: () => number): (address: string) => boolean {
  const all = openTokenBucket(HANDSHAKES_AT_ONCE, HANDSHAKES_PER_SECOND, now);
  const byAddress = new Map<string, TokenBucket>();
  return (address) => {
    const own = byAddress.get(address) ?? openTokenBucket(ADDRESS_AT_ONCE, ADDRESS_PER_SECOND, now);
    byAddress.set(address, own);
    const [first = ""] = byAddress.keys();
    if (byAddress.size > MAX_ADDRESSES) byAddress.delete(first);
    return own.take(1) && all.take(1);
  };
}

/** A log in which strangers have few lines; the next one that is written tells how many were left out. */
export function quietLog(log: (line: string) => void, now: () => number): (line: string) => void {
  const budget = openTokenBucket(LINES_AT_ONCE, LINES_PER_SECOND, now);
  let left = 0;
  return (line) => {
    if (!budget.take(1)) {
      left += 1;
      return;
    }
    log(left === 0 ? line : `${line} (${left} more lines about strangers were left out)`);
    left = 0;
  };
}
