import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { waitFor } from "../link/wait.ts";
import { isName } from "../manifest/names.ts";
import type { Authority } from "./authority.ts";
import { type Credentials, makeRequest, readCertificate, validityOf } from "./certificate.ts";
import { HANDSHAKE_LIMIT_MS } from "./handshake.ts";
import type { Peers } from "./peers.ts";
import type { Token } from "./token.ts";
import { hearLines, MAX_LINE_BYTES, sayLine, textOf } from "./wire.ts";

/** The answer reaches whoever wants it within this. */
const FAREWELL_MS = 1_000;

/** How a daemon lets plugins in. */
export type Registrar = {
  readonly authority: Authority;
  readonly peers: Peers;
  /** How long a plugin's certificate holds. */
  readonly lifeMs: number;
};

/** The daemon's half: takes a token and a request for a certificate, and answers. The connection is over afterwards. */
export async function serveEnrolment(
  socket: TLSSocket,
  registrar: Registrar,
): Promise<Result<{ readonly name: string }>> {
  const asked = await hearOne(socket);
  if (!asked.ok) return asked;
  const said = textOf(asked.value, "name") ?? "";
  // What is no name goes into no log.
  const name = isName(said) ? said : "";
  const redeemed = await registrar.peers.redeem(name, textOf(asked.value, "secret") ?? "");
  const issued = redeemed.ok
    ? await issue(registrar, name, textOf(asked.value, "request") ?? "", { isRenewal: false })
    : redeemed;
  sayLine(socket, issued.ok ? { certificate: issued.value } : { problem: issued.failure.message });
  socket.end();
  // Whoever does not end its side would keep the connection for as long as it likes.
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  return issued.ok ? ok({ name }) : issued;
}

/** Signs a certificate for a plugin and lets it count. */
export async function issue(
  { authority, peers, lifeMs }: Registrar,
  name: string,
  request: string,
  { isRenewal }: { readonly isRenewal: boolean },
): Promise<Result<string>> {
  const signed = await authority.sign(request, `clawd://plugin/${name}`, lifeMs);
  if (!signed.ok) return signed;
  const read = readCertificate(signed.value);
  if (read === undefined) throw new Error("what was signed is no certificate");
  const { untilMs } = validityOf(read);
  const added = await peers.add(name, { serial: read.serialNumber, untilMs }, isRenewal);
  return added.ok ? ok(signed.value) : added;
}

/** The agent's half, with a daemon that proved to be the one of the token. `authority` is the daemon's, PEM. */
export async function askToEnrol(
  socket: TLSSocket,
  { name, secret }: Token,
  authority: string,
): Promise<Result<Credentials>> {
  const { key, request } = await makeRequest();
  sayLine(socket, { name, secret, request });
  const answer = await hearOne(socket);
  socket.destroy();
  if (!answer.ok) return answer;
  const problem = textOf(answer.value, "problem");
  if (problem !== undefined) {
    return fail("denied", `the daemon refuses the enrolment: ${problem}`, {
      hint: `make a new token on its machine: claw plugin enrol ${name}`,
    });
  }
  const certificate = textOf(answer.value, "certificate") ?? "";
  if (readCertificate(certificate) === undefined)
    return fail("corrupt", "the daemon answered with what is no certificate");
  return ok({ key, certificate: certificate + authority, authority });
}

/** One line, within the time that a stranger has. */
async function hearOne(socket: Duplex): Promise<Result<unknown>> {
  const { promise, resolve } = Promise.withResolvers<Result<unknown>>();
  hearLines(socket, {
    maxBytes: MAX_LINE_BYTES,
    onLine: (value) => resolve(ok(value)),
    onNonsense: (what) => resolve(fail("invalid", `the other side said ${what}`)),
  });
  socket.once("close", () => resolve(fail("unavailable", "the connection was closed in the enrolment")));
  const heard = await waitFor(promise, HANDSHAKE_LIMIT_MS);
  const result = heard.came === "value" ? heard.value : fail("timed_out", "the enrolment took too long");
  if (!result.ok) socket.destroy();
  return result;
}
