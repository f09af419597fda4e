import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isName } from "../manifest/names.ts";
import { textOf } from "./wire.ts";

/** What is carried from the daemon's machine to the plugin's by a person, once. */
export type Token = {
  readonly name: string;
  /** Where the daemon listens, "HOST:PORT"; empty when the agent listens itself. */
  readonly address: string;
  /** SHA-256 of the authority's certificate, hex: by this the agent knows the daemon. */
  readonly fingerprint: string;
  /** By this the daemon knows the agent. */
  readonly secret: string;
};

const PREFIX = "clawd-enrol-";
const MAX_TOKEN_CHARS = 2_000;

export function printToken(token: Token): string {
  return PREFIX + Buffer.from(JSON.stringify(token)).toString("base64url");
}

export function readToken(text: string): Result<Token> {
  const hint = "copy the whole line that claw plugin enrol NAME printed";
  const trimmed = text.trim();
  if (!trimmed.startsWith(PREFIX) || trimmed.length > MAX_TOKEN_CHARS) {
    return fail("invalid", "that is no enrolment token", { hint });
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(trimmed.slice(PREFIX.length), "base64url").toString("utf8"));
  } catch (cause) {
    return fail("invalid", "the enrolment token is damaged", { hint, cause });
  }
  const [name, address] = [textOf(value, "name"), textOf(value, "address")];
  const [fingerprint, secret] = [textOf(value, "fingerprint"), textOf(value, "secret")];
  if (
    name === undefined ||
    address === undefined ||
    fingerprint === undefined ||
    secret === undefined ||
    !isName(name)
  ) {
    return fail("invalid", "the enrolment token is damaged", { hint });
  }
  return ok({ name, address, fingerprint, secret });
}

/** "HOST:PORT" in its two parts; an IPv6 address stands in brackets. */
export function readAddress(text: string): Result<{ readonly host: string; readonly port: number }> {
  const [, bracketed, plain, digits = ""] = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    return fail("invalid", `${JSON.stringify(text)} is no address`, {
      hint: 'write HOST:PORT, for example "10.0.0.7:7443"',
    });
  }
  return ok({ host, port });
}
