import { containsNetwork, embeddedIp, type Ip, isInNetwork, type Network, network } from "./ip.ts";

/**
 * `public`: anybody's. `private`: of the networks around this machine. `special`: this machine, the link, groups, metadata
 * services, everything reserved.
 */
export type AddressClass = "public" | "private" | "special";

const PRIVATE = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "fc00::/7",
  "fec0::/10",
].map(network);

/** Looked at before the private ones: metadata services lie in both. */
const SPECIAL = [
  "0.0.0.0/8",
  "100.100.100.200/32",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "3fff::/20",
  "fd00:ec2::/32",
].map(network);

/** The only IPv6 addresses that anybody in the world can have. */
const GLOBAL_IPV6 = network("2000::/3");

/** Judges an address by the IPv4 address in it when there is one. */
export function classifyIp(ip: Ip): AddressClass {
  const judged = embeddedIp(ip);
  if (SPECIAL.some((one) => isInNetwork(one, judged))) return "special";
  if (PRIVATE.some((one) => isInNetwork(one, judged))) return "private";
  return judged.bits === 32 || isInNetwork(GLOBAL_IPV6, judged) ? "public" : "special";
}

/** True when every address of the network is public, those that carry an IPv4 address left out of account. */
export function isPublicNetwork(network: Network): boolean {
  if (network.base.bits === 128 && !containsNetwork(GLOBAL_IPV6, network)) return false;
  return [...SPECIAL, ...PRIVATE].every((one) => !containsNetwork(one, network) && !containsNetwork(network, one));
}
