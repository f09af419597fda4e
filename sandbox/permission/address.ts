import { type Checked, check, type Denied, forbids, opens } from "./grant.ts";
import { isLocalhost, normalizeHost } from "./host.ts";
import { embeddedIp, type Ip, readIp } from "./ip.ts";
import { type AddressClass, classifyIp } from "./ip-class.ts";
import { type Grant, type Permission, printPermission } from "./permission.ts";
import { printDenyFlag, printFlag } from "./permission-flag.ts";

type NetPermission = Extract<Permission, { kind: "net" }>;

/** One sentence's worth of what an address is, for a denial. */
const CLASS_WORDS: Readonly<Record<AddressClass, string>> = {
  public: "an address of this machine",
  private: "a private address",
  special: "a special address",
};

/**
 * Judges the address that a granted host turned out to have; exactly this address may be dialled then.
 * A public address follows its host. A private or special one must itself be granted, as an address or a network; a
 * name, also when it is granted, opens none, but for `localhost`, which in turn may lead nowhere else.
 * @param host as it was asked for; the address itself when there is no name
 * @param isOwn true for an address of this machine, which is special whatever it looks like
 */
export function addressGranted(
  grant: Grant,
  host: string,
  ip: string,
  port: number,
  isOwn = false,
): { readonly ok: true; readonly value: Checked<NetPermission> } | Denied {
  const asked = check<NetPermission>(grant, { kind: "net", host, port });
  if (!asked.ok) return asked;
  const address = normalizeHost(ip);
  const read = address === undefined ? undefined : readIp(address);
  if (!read || address === undefined) return refuse(asked.value, `${JSON.stringify(ip)}, which is no address`);
  const reached: NetPermission = { kind: "net", host: address, port };
  const denying = grant.deny.find((rule) => forbids(rule, reached));
  if (denying) {
    return {
      ok: false,
      message: `${printPermission(asked.value)} leads to ${address}, which is denied`,
      hint: `take away ${printDenyFlag(denying)} to allow it`,
    };
  }
  if (isLocalhost(asked.value.host ?? ""))
    return isLoopback(read) ? asked : refuse(asked.value, `${address}, which is not this machine`);
  const kind = classifyIp(read);
  if (kind === "public" && !isOwn) return asked;
  if (grant.allow.some((rule) => rule.kind === "net" && rule.host !== undefined && opens(rule, reached))) return asked;
  return {
    ok: false,
    message: `${printPermission(asked.value)} leads to ${address}, ${CLASS_WORDS[kind]}, which is not granted itself`,
    hint: `grant it with ${printFlag(reached)} as well`,
  };
}

function refuse(asked: NetPermission, what: string): Denied {
  return {
    ok: false,
    message: `${printPermission(asked)} leads to ${what}`,
    hint: "look at what the name stands for; it cannot be reached under this name",
  };
}

function isLoopback(ip: Ip): boolean {
  const { bits, value } = embeddedIp(ip);
  return bits === 32 ? value >> 24n === 127n : value === 1n;
}
