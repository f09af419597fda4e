import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { type Credentials, readCertificate, validityOf } from "../remote/certificate.ts";
import { readOwnFile, writeOwnFile } from "../remote/own-file.ts";
import { fieldOf, textOf } from "../remote/wire.ts";

/** Who an agent is, once it is enrolled. */
export type AgentIdentity = Credentials & {
  /** Of its plugin. */
  readonly name: string;
  /** Where its daemon listens; empty when the agent does. */
  readonly address: string;
};

const FILE = "identity.json";

/** Undefined when it never enrolled. */
export async function readIdentity(stateDir: string): Promise<Result<AgentIdentity | undefined>> {
  const file = join(stateDir, FILE);
  const hint = "enrol again: claw plugin enrol NAME on the daemon's machine, and --token here";
  try {
    const text = await readOwnFile(file);
    if (text === undefined) return ok(undefined);
    const json: unknown = JSON.parse(text);
    const [name, address] = [textOf(json, "name"), textOf(json, "address")];
    const [key, certificate] = [textOf(json, "key"), textOf(json, "certificate")];
    const authority = textOf(json, "authority");
    if (![name, address, key, certificate, authority].includes(undefined) && fieldOf(json, "version") === 1) {
      return ok({ name, address, key, certificate, authority } as AgentIdentity);
    }
    return fail("corrupt", `${file} is not of the expected form`, { hint });
  } catch (cause) {
    return fail("corrupt", `${file} cannot be read: ${String(cause)}`, { hint, cause });
  }
}

/** The key and its certificate in one file, so that a crash leaves no pair that does not fit. */
export async function writeIdentity(stateDir: string, identity: AgentIdentity): Promise<Result<void>> {
  const file = join(stateDir, FILE);
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await writeOwnFile(file, `${JSON.stringify({ version: 1, ...identity }, null, 2)}\n`);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `${file} cannot be written: ${String(cause)}`, {
      hint: "look at the free space and at the rights of its folder",
      cause,
    });
  }
}

/** Why this identity is of no use any more; undefined while it is. */
export function expiryOf({ name, certificate }: AgentIdentity, nowMs: number): Result<void> {
  const read = readCertificate(certificate);
  if (read !== undefined && validityOf(read).untilMs > nowMs) return ok(undefined);
  const when = read === undefined ? "is damaged" : `expired on ${read.validTo}`;
  return fail("denied", `the certificate of plugin "${name}" ${when}`, {
    hint: `on the daemon's machine: claw plugin enrol ${name}; then start the agent with --token TOKEN`,
  });
}
