import { printIp, printNetwork, readIp, readNetwork, unmapIp } from "./ip.ts";

/** Names below which anybody can have a name: the registries' second levels by their shape, and the largest hosters. */
const REGISTRY_LEVEL = /^(?:ac|co|com|edu|go|gob|gov|gv|ne|net|or|org)\.[a-z]{2}$/;
const SHARED_DOMAINS = new Set([
  "amazonaws.com",
  "appspot.com",
  "azurewebsites.net",
  "blogspot.com",
  "cloudfront.net",
  "deno.dev",
  "firebaseapp.com",
  "fly.dev",
  "github.io",
  "gitlab.io",
  "herokuapp.com",
  "netlify.app",
  "ngrok.app",
  "ngrok.io",
  "onrender.com",
  "pages.dev",
  "vercel.app",
  "web.app",
  "workers.dev",
]);

/** DNS knows no longer name; twice that leaves room for what is written out. UTF-16 units. */
const HOST_LIMIT_CHARS = 512;

/**
 * The one spelling of a host: lower case, punycode, no last dot, numbers as dotted IPv4 (an IPv4-mapped address too),
 * IPv6 without brackets. Undefined for what is no host.
 */
export function normalizeHost(host: string): string | undefined {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  if (
    bracketed === "" ||
    bracketed.length > HOST_LIMIT_CHARS ||
    /[/?#@\\\s*%]/.test(bracketed) ||
    /\]:|^[^[].*:/.test(bracketed)
  )
    return undefined;
  try {
    const name = new URL(`http://${bracketed}`).hostname.replace(/\.$/, "").replace(/^\[|\]$/g, "");
    const ip = readIp(name);
    if (ip) return printIp(unmapIp(ip));
    // URLs allow more in a name, commas for one: these would be read back as something else.
    return /^[a-z0-9._-]+$/.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** The same for what a rule may name beside a host: `*.example.com`, and networks (`10.0.0.0/8`, `fc00::/7`, `[fc00::]/7`). */
export function normalizeHosts(hosts: string): string | undefined {
  if (hosts.startsWith("*.")) {
    const domain = normalizeHost(hosts.slice(2));
    return domain === undefined || readIp(domain) ? undefined : `*.${domain}`;
  }
  const slash = hosts.indexOf("/");
  if (slash < 0) return normalizeHost(hosts);
  const read = readNetwork(`${hosts.slice(0, slash).replace(/^\[|\]$/g, "")}${hosts.slice(slash)}`);
  if (!read) return undefined;
  return read.prefix === read.base.bits ? printIp(unmapIp(read.base)) : printNetwork(read);
}

/** What is wrong with `*.domain`: it would name the sites of people who have nothing to do with each other. */
export function explainWildcard(domain: string): string | undefined {
  if (domain === "localhost") return undefined;
  if (readIp(domain)) return "an address has no names below it; write a network, as in 10.0.0.0/8";
  const isShared = !domain.includes(".") || REGISTRY_LEVEL.test(domain) || SHARED_DOMAINS.has(domain);
  return isShared ? "too wide; name at least a domain of one owner, as in *.example.com" : undefined;
}

/** True for `localhost` and the names below it, which mean this machine and nothing else. */
export function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** A host or network as it stands in the language: IPv6 in brackets, a port behind. */
export function printHost(host: string, port: number | undefined): string {
  const [name = "", prefix] = host.split("/");
  const bracketed = `${name.includes(":") ? `[${name}]` : name}${prefix === undefined ? "" : `/${prefix}`}`;
  return port === undefined ? bracketed : `${bracketed}:${port}`;
}
