import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../life/clock.ts";
import { dueAtMs } from "../remote/authority.ts";
import { type Credentials, makeRequest, readCertificate } from "../remote/certificate.ts";
import { watchOver } from "../remote/far-agent.ts";
import { fieldOf, hearLines, LINK_SETTINGS, MAX_LINE_BYTES, PATHS, sayLine, textOf } from "../remote/wire.ts";
import type { BroughtPlugin } from "./brought-plugin.ts";
import { serveProcesses } from "./process-host.ts";

/** How often it is looked whether the certificate is due. */
const LONGEST_LOOK_MS = 60 * 60_000;
/** A daemon that did not answer is asked again after this. */
const SHORTEST_LOOK_MS = 60_000;

export type LinkParts = {
  readonly plugin: BroughtPlugin;
  readonly runtimeDir: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: (line: string) => void;
  readonly credentials: () => Credentials;
  /** A new certificate came; it counts for the next connection. */
  readonly onRenewed: (credentials: Credentials) => Promise<void>;
};

/** Why a connection is over: it broke, or the daemon sent the agent away, perhaps for good. */
export type LinkEnd = { readonly because: string; readonly forGood: boolean };

/** Serves the daemon on a connection until that is over; nothing that was started over it is left then. */
export async function serveLink(socket: TLSSocket, parts: LinkParts): Promise<LinkEnd> {
  const { plugin, log } = parts;
  const session: ServerHttp2Session = performServerHandshake(socket, { settings: LINK_SETTINGS });
  session.on("error", () => socket.destroy());
  let end: LinkEnd = { because: "the connection is lost", forGood: false };
  let stopRenewing = () => {};
  const processes = serveProcesses(session, { ...parts, start: plugin.start });
  session.on("stream", (stream, headers) => {
    if (headers[":path"] !== PATHS.agent) return;
    stream.respond({ ":status": 200 });
    const renewal = keepRenewing(stream, parts);
    stopRenewing = renewal.stop;
    hearLines(stream, {
      maxBytes: MAX_LINE_BYTES,
      onNonsense: () => socket.destroy(),
      onLine: (value) => {
        const dismissed = textOf(value, "dismissed");
        if (dismissed !== undefined) end = { because: dismissed, forGood: fieldOf(value, "forGood") === true };
        const certificate = textOf(value, "certificate");
        if (certificate !== undefined) renewal.take(certificate);
      },
    });
    stream.once("end", () => socket.destroySoon());
    sayLine(stream, { manifest: plugin.manifestJson, filesSha256: plugin.filesSha256 });
  });
  const unwatch = watchOver(session, socket);
  const closed = Promise.withResolvers<void>();
  socket.once("close", () => closed.resolve());
  if (socket.destroyed) closed.resolve();
  await closed.promise;
  unwatch();
  stopRenewing();
  session.destroy();
  log(`not connected: ${end.because}`);
  await processes.ended();
  return end;
}

/** Asks for a new certificate when two thirds of the old one's life are over, with a key of its own. */
function keepRenewing(stream: ServerHttp2Stream, { clock, log, credentials, onRenewed }: LinkParts) {
  let asked: { readonly key: string } | undefined;
  let cancel = () => {};
  const look = async () => {
    if (clock.now() >= dueAtMs(credentials().certificate)) {
      const { key, request } = await makeRequest();
      asked = { key };
      sayLine(stream, { renew: request });
    }
    plan();
  };
  const plan = () => {
    const leftMs = dueAtMs(credentials().certificate) - clock.now();
    cancel = clock.after(Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, leftMs)), () => void look());
  };
  stream.once("close", () => cancel());
  void look();
  return {
    stop: () => cancel(),
    take(certificate: string) {
      const { authority } = credentials();
      if (asked === undefined || readCertificate(certificate) === undefined) return;
      const { key } = asked;
      asked = undefined;
      onRenewed({ key, certificate: certificate + authority, authority }).catch((cause: unknown) =>
        log(`the new certificate cannot be kept: ${String(cause)}`),
      );
    },
  };
}
