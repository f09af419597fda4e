import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { DAEMON, fingerprintOf, identityOf, validityOf } from "./certificate.ts";

const PLUGIN = "clawd://plugin/";

/** A plugin that showed a certificate of ours. Whether it still counts is another question. */
export type ShownPlugin = { readonly name: string; readonly serial: string; readonly untilMs: number };

/** Judges the certificate that an agent showed in a handshake with our authority in force. */
export function judgePlugin(socket: TLSSocket, nowMs: number): Result<ShownPlugin> {
  const shown = judgeShown(socket, nowMs);
  if (!shown.ok) return shown;
  const identity = identityOf(shown.value) ?? "";
  if (!identity.startsWith(PLUGIN)) return fail("denied", "its certificate is not that of a plugin");
  const { untilMs } = validityOf(shown.value);
  return ok({ name: identity.slice(PLUGIN.length), serial: shown.value.serialNumber, untilMs });
}

/** Judges the certificate that a daemon showed in a handshake with its authority in force. */
export function judgeDaemon(socket: TLSSocket, nowMs: number): Result<void> {
  const shown = judgeShown(socket, nowMs);
  if (!shown.ok) return shown;
  return identityOf(shown.value) === DAEMON ? ok(undefined) : fail("denied", "its certificate is not that of a daemon");
}

function judgeShown(socket: TLSSocket, nowMs: number): Result<X509Certificate> {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return fail("denied", "it shows no certificate");
  // A session that is taken up again shows none either: what it once showed may have been revoked.
  if (socket.isSessionReused()) return fail("denied", "it takes up an old session");
  const inTime = judgeTime(certificate, nowMs);
  if (!inTime.ok) return inTime;
  if (!socket.authorized) {
    return fail("denied", `its certificate does not hold: ${String(socket.authorizationError)}`);
  }
  return ok(certificate);
}

/** Judges a daemon of which nothing but the fingerprint of its authority is known; the value is that authority, PEM. */
export function judgePinned(socket: TLSSocket, fingerprint: string, nowMs: number): Result<string> {
  const certificate = socket.getPeerX509Certificate();
  const authority = issuerOf(socket, certificate);
  if (certificate === undefined || authority === undefined) return fail("denied", "it shows no certificate");
  if (fingerprintOf(authority) !== fingerprint) {
    return fail("denied", "it is not the daemon that the token is from: its authority is another", {
      hint: "somebody may be in between; or the daemon's keys were made anew: claw plugin enrol NAME",
    });
  }
  const inTime = judgeTime(certificate, nowMs);
  if (!inTime.ok) return inTime;
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey) || !authority.ca) {
    return fail("denied", "its certificate is not signed by the authority of the token");
  }
  if (identityOf(certificate) !== DAEMON) return fail("denied", "its certificate is not that of a daemon");
  return ok(authority.toString());
}

/** The certificate that came along behind the peer's own. */
function issuerOf(socket: TLSSocket, own: X509Certificate | undefined): X509Certificate | undefined {
  if (own?.issuerCertificate !== undefined) return own.issuerCertificate;
  const { issuerCertificate } = socket.getPeerCertificate(true);
  return issuerCertificate?.raw === undefined ? undefined : new X509Certificate(issuerCertificate.raw);
}

function judgeTime(certificate: X509Certificate, nowMs: number): Result<void> {
  const { fromMs, untilMs } = validityOf(certificate);
  if (untilMs <= nowMs) return fail("denied", `its certificate expired on ${certificate.validTo}`);
  if (fromMs > nowMs) return fail("denied", `its certificate holds from ${certificate.validFrom} on: a clock is wrong`);
  return ok(undefined);
}
