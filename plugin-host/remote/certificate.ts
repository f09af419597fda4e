import { createHash, type webcrypto, X509Certificate } from "node:crypto";
import { fail, ok, type Result } from "../../core/domain/failure.ts";

/** Whom a certificate stands for: the daemon itself, or one plugin by its name. */
export type Identity = "clawd://daemon" | `clawd://plugin/${string}`;

export const DAEMON: Identity = "clawd://daemon";

/** A private key and the certificate that goes with it, followed by the authority's, all PEM. */
export type Credentials = { readonly key: string; readonly certificate: string; readonly authority: string };

/** From when to when a certificate holds, milliseconds since 1970-01-01 UTC. */
export type Validity = { readonly fromMs: number; readonly untilMs: number };

/** What is to be signed: a public key that showed that it has its private half, and what the certificate shall say. */
export type CertificateOrder = {
  /** A certification request, PEM. Nothing but its key is taken from it. */
  readonly request: string;
  readonly identity: Identity;
  readonly validity: Validity;
};

const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const SERVER_USE = "1.3.6.1.5.5.7.3.1";
const CLIENT_USE = "1.3.6.1.5.5.7.3.2";
const SERIAL_BYTES = 16;
/** Keeps a serial number positive and of one length, so that it reads the same everywhere. */
const SERIAL_HEAD = 0x40;

/** Loaded on first need: a daemon without remote plugins has no use for it. */
async function loadX509() {
  return (await import("./x509-library.ts")).x509;
}

/** The name that certificates carry beside what counts, which is their URI. */
const AUTHORITY_NAME = "CN=clawd remote plugins";

/** Makes an authority: a key that signs certificates of no other kind than these. */
export async function makeAuthority(
  validity: Validity,
  random: (bytes: number) => Uint8Array,
): Promise<{ readonly key: string; readonly certificate: string }> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialFrom(random),
    name: AUTHORITY_NAME,
    ...datesOf(validity),
    signingAlgorithm: EC,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await exportKey(keys.privateKey), certificate: `${certificate.toString("pem")}\n` };
}

/** Signs what was ordered. `invalid` when the request is none, or its key is not of our kind. */
export async function signCertificate(
  authority: { readonly key: string; readonly certificate: string },
  { request, identity, validity }: CertificateOrder,
  random: (bytes: number) => Uint8Array,
): Promise<Result<string>> {
  const x509 = await loadX509();
  try {
    const asked = new x509.Pkcs10CertificateRequest(request);
    const { name, namedCurve } = asked.publicKey.algorithm as { readonly name: string; readonly namedCurve?: string };
    if (name !== EC.name || namedCurve !== EC.namedCurve)
      return fail("invalid", "the key of the request is not ECDSA P-256");
    if (!(await asked.verify())) return fail("invalid", "the request is not signed by its own key");
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialFrom(random),
      subject: `CN=${identity === DAEMON ? "clawd" : identity.slice("clawd://plugin/".length)}`,
      issuer: AUTHORITY_NAME,
      ...datesOf(validity),
      signingAlgorithm: EC,
      publicKey: asked.publicKey,
      signingKey: await importKey(authority.key),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        // Either side may be the one that is dialled.
        new x509.ExtendedKeyUsageExtension([SERVER_USE, CLIENT_USE]),
        new x509.SubjectAlternativeNameExtension([{ type: "url", value: identity }]),
        await x509.AuthorityKeyIdentifierExtension.create(new x509.X509Certificate(authority.certificate).publicKey),
      ],
    });
    return ok(`${certificate.toString("pem")}\n`);
  } catch (cause) {
    return fail("invalid", "what was sent is no certification request", { cause });
  }
}

/** A new key, and the request for a certificate of it. */
export async function makeRequest(): Promise<{ readonly key: string; readonly request: string }> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: "CN=clawd",
    keys,
    signingAlgorithm: EC,
  });
  return { key: await exportKey(keys.privateKey), request: `${request.toString("pem")}\n` };
}

/** SHA-256 of a certificate, hex. */
export function fingerprintOf(certificate: X509Certificate): string {
  return createHash("sha256").update(certificate.raw).digest("hex");
}

/** The one URI that a certificate stands for; undefined when it has none, or several names. */
export function identityOf({ subjectAltName }: X509Certificate): string | undefined {
  // With more than one name it would hold a comma; a quoted one is none that we wrote.
  return /^URI:(clawd:\/\/[a-z0-9/-]+)$/i.exec(subjectAltName ?? "")?.[1];
}

export function validityOf({ validFromDate, validToDate }: X509Certificate): Validity {
  return { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() };
}

/** Reads a PEM; undefined when it is none. */
export function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function serialFrom(random: (bytes: number) => Uint8Array): string {
  const bytes = Buffer.from(random(SERIAL_BYTES));
  bytes[0] = ((bytes[0] ?? 0) & (SERIAL_HEAD - 1)) | SERIAL_HEAD;
  return bytes.toString("hex").toUpperCase();
}

function datesOf({ fromMs, untilMs }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(fromMs), notAfter: new Date(untilMs) };
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey("pkcs8", key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return crypto.subtle.importKey("pkcs8", der, EC, false, ["sign"]);
}
