/** An IP address as a number. */
export type Ip = { readonly bits: 32 | 128; readonly value: bigint };

/** All addresses that share their first `prefix` bits with `base`; the other bits of `base` are zero. */
export type Network = { readonly base: Ip; readonly prefix: number };

/** `::ffff:a.b.c.d`: the kernel dials it as the IPv4 address itself. */
const MAPPED = network("::ffff:0:0/96");
/** Forms that carry an IPv4 address, and how many bits stand behind it: traffic to them may end up at that address. */
const CARRIERS: readonly (readonly [Network, bigint])[] = [
  [network("::/96"), 0n],
  [MAPPED, 0n],
  [network("::ffff:0:0:0/96"), 0n],
  [network("64:ff9b::/96"), 0n],
  [network("2002::/16"), 80n],
];
const IPV4_MASK = 0xffff_ffffn;

/** Reads an address as the WHATWG URL parser prints it, IPv6 without brackets; undefined for anything else. */
export function readIp(text: string): Ip | undefined {
  if (text.includes(":")) return readIpv6(text);
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const parts = text.split(".").map(Number);
  if (parts.some((part) => part > 255)) return undefined;
  return { bits: 32, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) };
}

function readIpv6(text: string): Ip | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return { bits: 128, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
}

/** Dotted IPv4, or IPv6 in the short form of RFC 5952, without brackets. */
export function printIp({ bits, value }: Ip): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - index * 16)) & 0xffffn);
  const host = new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname;
  return host.slice(1, -1);
}

/** Reads `10.0.0.0/8` or `fc00::/7` (no brackets); bits beyond the prefix are cleared. */
export function readNetwork(text: string): Network | undefined {
  const [, address = "", prefixText = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const ip = readIp(address);
  const prefix = Number(prefixText);
  if (!ip || prefix > ip.bits) return undefined;
  const rest = BigInt(ip.bits - prefix);
  return { base: { bits: ip.bits, value: (ip.value >> rest) << rest }, prefix };
}

export function printNetwork({ base, prefix }: Network): string {
  return `${printIp(base)}/${prefix}`;
}

export function isInNetwork({ base, prefix }: Network, ip: Ip): boolean {
  const rest = BigInt(base.bits - prefix);
  return base.bits === ip.bits && base.value >> rest === ip.value >> rest;
}

/** True when every address of `inner` is one of `outer`. */
export function containsNetwork(outer: Network, inner: Network): boolean {
  return outer.prefix <= inner.prefix && isInNetwork(outer, inner.base);
}

/** The IPv4 address that an IPv6 one stands for (mapped, compatible, translated, NAT64, 6to4); itself otherwise. */
export function embeddedIp(ip: Ip): Ip {
  // The unspecified and the loopback address look like compatible ones and are none.
  if (ip.bits === 32 || ip.value <= 1n) return ip;
  const carrier = CARRIERS.find(([form]) => isInNetwork(form, ip));
  return carrier ? { bits: 32, value: (ip.value >> carrier[1]) & IPV4_MASK } : ip;
}

/** `::ffff:a.b.c.d` as `a.b.c.d`; anything else as it is. */
export function unmapIp(ip: Ip): Ip {
  return isInNetwork(MAPPED, ip) ? embeddedIp(ip) : ip;
}

/** A network that stands in our own source. */
export function network(text: string): Network {
  const read = readNetwork(text);
  if (!read) throw new Error(`${text} is not a network`);
  return read;
}
