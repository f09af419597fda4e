import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import {
  type Credentials,
  DAEMON,
  fingerprintOf,
  type Identity,
  makeAuthority,
  makeRequest,
  readCertificate,
  signCertificate,
  type Validity,
  validityOf,
} from "./certificate.ts";
import { readOwnFile, writeOwnFile } from "./own-file.ts";

const DAY_MS = 24 * 60 * 60_000;
const AUTHORITY_LIFE_MS = 10 * 365 * DAY_MS;
/** The daemon's own certificate, which lives in memory only. */
const OWN_LIFE_MS = 30 * DAY_MS;
/** Clocks of two machines differ. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** The daemon's authority over remote plugins: it signs their certificates and its own, and nobody else's count. */
export type Authority = {
  /** PEM. */
  readonly certificate: string;
  /** SHA-256, hex. */
  readonly fingerprint: string;
  /** The daemon's key and certificate, of which at least a third of its life is left. */
  credentials(): Promise<Result<Credentials>>;
  /** A certificate for whoever holds the key of a request, PEM. */
  sign(request: string, identity: Identity, lifeMs: number): Promise<Result<string>>;
};

export type AuthorityParts = {
  /** Where its key is kept, for the owner alone; made when it is missing. */
  readonly dir: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

/** Reads the authority of a folder, and makes it on first use. `corrupt` when its files are not what was written there. */
export async function openAuthority({ dir, now, random }: AuthorityParts): Promise<Result<Authority>> {
  const [keyFile, certificateFile] = [join(dir, "authority.key"), join(dir, "authority.pem")];
  const lasting = (lifeMs: number): Validity => ({ fromMs: now() - CLOCK_SKEW_MS, untilMs: now() + lifeMs });
  let key: string | undefined;
  let certificate: string | undefined;
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    [key, certificate] = [await readOwnFile(keyFile), await readOwnFile(certificateFile)];
    if (key === undefined || certificate === undefined) {
      const made = await makeAuthority(lasting(AUTHORITY_LIFE_MS), random);
      // The certificate last: a key without one is made anew, the other way round nothing could be signed.
      await writeOwnFile(keyFile, made.key);
      await writeOwnFile(certificateFile, made.certificate);
      ({ key, certificate } = made);
    }
  } catch (cause) {
    return fail("unavailable", `the keys for remote plugins in ${dir} can be neither read nor made: ${String(cause)}`, {
      hint: "look at the rights of that folder and at the free space",
      cause,
    });
  }
  const own = { key, certificate };
  const read = readCertificate(certificate);
  if (read === undefined || validityOf(read).untilMs <= now()) {
    const what = read === undefined ? "is no certificate" : "has expired";
    return fail("corrupt", `${certificateFile} ${what}, so no remote plugin can connect`, {
      hint: `remove ${keyFile} and ${certificateFile}, restart the daemon, and enrol each remote plugin again`,
    });
  }
  let current: Credentials | undefined;
  const authority: Authority = {
    certificate,
    fingerprint: fingerprintOf(read),
    async credentials() {
      if (current !== undefined && !isDue(current.certificate, now())) return ok(current);
      const made = await makeRequest();
      const signed = await authority.sign(made.request, DAEMON, OWN_LIFE_MS);
      if (!signed.ok) return signed;
      current = { key: made.key, certificate: signed.value + certificate, authority: certificate };
      return ok(current);
    },
    sign: (request, identity, lifeMs) => signCertificate(own, { request, identity, validity: lasting(lifeMs) }, random),
  };
  return ok(authority);
}

/** True when two thirds of a certificate's life are over, or it is none. */
export function isDue(certificate: string, nowMs: number): boolean {
  return nowMs >= dueAtMs(certificate);
}

/** When two thirds of a certificate's life are over, milliseconds since 1970-01-01 UTC; 0 for what is none. */
export function dueAtMs(certificate: string): number {
  const read = readCertificate(certificate);
  if (read === undefined) return 0;
  const { fromMs, untilMs } = validityOf(read);
  return fromMs + ((untilMs - fromMs) * 2) / 3;
}
