import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Credentials } from "./certificate.ts";
import { ENROL_PROTOCOL, LINK_PROTOCOL } from "./wire.ts";

/** From the first byte to the end of a handshake, and as much for an enrolment. */
export const HANDSHAKE_LIMIT_MS = 10_000;

export const PROTOCOLS = [LINK_PROTOCOL, ENROL_PROTOCOL] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export type HandshakeParts = {
  /** Undefined for one that has none yet. */
  readonly credentials: Credentials | undefined;
  /** What the side that dials wants; the other side takes what it serves. */
  readonly protocols: readonly Protocol[];
};

/** What both roles share: TLS 1.3 and nothing older, certificates judged by us after the handshake. */
function optionsOf({ credentials, protocols }: HandshakeParts) {
  return {
    minVersion: "TLSv1.3",
    ALPNProtocols: [...protocols],
    rejectUnauthorized: false,
    ...(credentials === undefined
      ? {}
      : { key: credentials.key, cert: credentials.certificate, ca: [credentials.authority] }),
  } as const;
}

/** Shakes hands as the side that dialled. The socket is the value's from now on, and gone when it fails. */
export async function shakeAsClient(socket: Socket, parts: HandshakeParts): Promise<Result<TLSSocket>> {
  const { connect } = await import("node:tls");
  const { promise, resolve } = Promise.withResolvers<Result<TLSSocket>>();
  const refuse = (cause: Error) => {
    clearTimeout(timer);
    socket.destroy();
    resolve(fail("unavailable", `the handshake failed: ${cause.message}`, { cause }));
  };
  const timer = setTimeout(() => refuse(new Error("it took too long")), HANDSHAKE_LIMIT_MS);
  const secured = connect({ socket, ...optionsOf(parts), checkServerIdentity: () => undefined });
  secured.once("error", refuse);
  secured.once("close", () => refuse(new Error("the connection was closed")));
  secured.once("secureConnect", () => {
    clearTimeout(timer);
    resolve(agree(secured, parts.protocols));
  });
  return promise;
}

/**
 * Shakes hands as the side that was dialled, which shows its certificate in any case. Each handshake has a server of its own,
 * so that no session can ever be taken up again: what was revoked stays out.
 */
export async function shakeAsServer(
  socket: Socket,
  parts: HandshakeParts & { readonly credentials: Credentials },
): Promise<Result<TLSSocket>> {
  const { createServer } = await import("node:tls");
  const { promise, resolve } = Promise.withResolvers<Result<TLSSocket>>();
  const refuse = (cause: Error) => {
    socket.destroy();
    resolve(fail("unavailable", `the handshake failed: ${cause.message}`, { cause }));
  };
  const options = { ...optionsOf(parts), requestCert: true, handshakeTimeout: HANDSHAKE_LIMIT_MS };
  const server = createServer(options, (secured) => resolve(agree(secured, parts.protocols)));
  server.once("tlsClientError", refuse);
  socket.once("error", refuse);
  socket.once("close", () => refuse(new Error("the connection was closed")));
  server.emit("connection", socket);
  return promise;
}

function agree(secured: TLSSocket, protocols: readonly Protocol[]): Result<TLSSocket> {
  // Stays: a connection that breaks later is seen by its close.
  secured.on("error", () => {});
  if (protocols.some((one) => one === secured.alpnProtocol)) {
    secured.setNoDelay(true);
    return ok(secured);
  }
  secured.destroy();
  return fail("invalid", "the other side does not speak our protocol");
}

/** What the two agreed upon. */
export function protocolOf({ alpnProtocol }: TLSSocket): Protocol | undefined {
  return PROTOCOLS.find((one) => one === alpnProtocol);
}
