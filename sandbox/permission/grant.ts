import { isLocalhost, normalizeHosts } from "./host.ts";
import { containsNetwork, embeddedIp, isInNetwork, printIp, readIp, readNetwork } from "./ip.ts";
import { classifyIp, isPublicNetwork } from "./ip-class.ts";
import { normalizePath } from "./path.ts";
import { type Grant, type MemoryAccess, type Permission, parsePermission, printPermission } from "./permission.ts";
import { printDenyFlag, printFlag } from "./permission-flag.ts";

declare const checkedMark: unique symbol;

/** A permission that `check` found granted. There is no other way to get one. */
export type Checked<P extends Permission = Permission> = P & { readonly [checkedMark]: true };

export type Denied = {
  readonly ok: false;
  /** What is denied and why, one sentence. */
  readonly message: string;
  /** The flag that would allow it, or the one that forbids it. */
  readonly hint: string;
};

/** Names that hold secrets: only their exact name opens them, neither a pattern nor all of `env`. */
const SECRET_NAME = /(?:_|^)(?:TOKEN|KEY|SECRET|PASSWORD)$/i;

/** Longest value of a request, UTF-16 units: no system opens a longer path, and nobody reads it. */
const VALUE_LIMIT_CHARS = 4096;

/** True for a name that says that its variable is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Judges one request. Deny beats allow, and what is in neither list is denied. */
export function check<P extends Permission>(
  grant: Grant,
  request: P,
): { readonly ok: true; readonly value: Checked<P> } | Denied {
  const wanted = normalize(request);
  if (!wanted)
    return {
      ok: false,
      message: `${isReadable(request) ? printPermission(request) : request.kind} is malformed`,
      hint: "ask for one thing as a flag would name it, by an absolute path or a plain host",
    };
  const text = printPermission(wanted);
  const denying = grant.deny.find((rule) => forbids(rule, wanted) || isWiderThan(wanted, rule));
  if (denying) {
    return {
      ok: false,
      message: `${text} is denied`,
      hint: `take away ${printDenyFlag(denying)} to allow it`,
    };
  }
  if (!grant.allow.some((rule) => opens(rule, wanted))) {
    return { ok: false, message: `${text} is not granted`, hint: `grant it with ${printFlag(wanted)}` };
  }
  return { ok: true, value: wanted as Checked<P> };
}

/**
 * The one spelling of a permission; undefined for one that the language cannot write down, because nobody could be told
 * what it means: printed and read back, it would be another.
 */
export function normalize<P extends Permission>(permission: P): P | undefined {
  if (!isReadable(permission)) return undefined;
  const spelled = spell(permission);
  if (!spelled) return undefined;
  const read = parsePermission(printPermission(spelled), "/");
  return read.ok && read.value.length === 1 && isEqual(read.value[0], spelled) ? spelled : undefined;
}

function isReadable(permission: Permission): boolean {
  return Object.values(permission).every((value) => typeof value !== "string" || value.length <= VALUE_LIMIT_CHARS);
}

function spell<P extends Permission>(permission: P): P | undefined {
  if ((permission.kind === "read" || permission.kind === "write") && permission.path !== undefined) {
    const path = normalizePath(permission.path);
    return path === undefined ? undefined : { ...permission, path };
  }
  if (permission.kind === "net" && permission.host !== undefined) {
    const host = normalizeHosts(permission.host);
    return host === undefined ? undefined : { ...permission, host };
  }
  return permission;
}

function isEqual(a: Permission | undefined, b: Permission): boolean {
  const fields = (one: Permission | undefined) => Object.entries(one ?? {}).filter(([, value]) => value !== undefined);
  const others = new Map<string, unknown>(fields(b));
  return fields(a).length === others.size && fields(a).every(([name, value]) => others.get(name) === value);
}

/**
 * True when a rule that allows lets a request through: it covers it, and names what must be named. A secret variable
 * needs its own name; `localhost` and an address that is not public need a rule with a host, and an IPv6 address that
 * carries an IPv4 one a rule for that one.
 */
export function opens(rule: Permission, request: Permission): boolean {
  if (rule.kind === "env" && request.kind === "env" && request.name !== undefined && SECRET_NAME.test(request.name))
    return rule.name === request.name;
  if (rule.kind !== "net" || request.kind !== "net" || request.host === undefined || !mustBeNamed(request.host))
    return covers(rule, request);
  if (rule.host === undefined) return false;
  const carried = carriedHost(request.host);
  return covers(rule, carried === undefined || rule.host === request.host ? request : { ...request, host: carried });
}

/** True when a rule that denies hits a request: also an IPv4 address that an IPv6 one carries. */
export function forbids(rule: Permission, request: Permission): boolean {
  if (covers(rule, request)) return true;
  const carried = request.kind === "net" && request.host !== undefined ? carriedHost(request.host) : undefined;
  return carried !== undefined && request.kind === "net" && covers(rule, { ...request, host: carried });
}

/** True when everything that `request` means is also meant by `rule`. Both normal. */
export function covers(rule: Permission, request: Permission): boolean {
  switch (rule.kind) {
    case "read":
    case "write":
      return rule.kind === request.kind && coversValue(rule.path, request.path, isInFolder);
    case "net":
      return (
        rule.kind === request.kind &&
        coversValue(rule.host, request.host, coversHost) &&
        coversValue(rule.port, request.port, isSame)
      );
    case "env":
    case "tool":
      return rule.kind === request.kind && coversValue(rule.name, request.name, coversName);
    case "run":
      return rule.kind === request.kind && coversValue(rule.program, request.program, isSame);
    case "sys":
      return rule.kind === request.kind && coversValue(rule.api, request.api, isSame);
    case "memory":
      return (
        rule.kind === request.kind &&
        coversValue(rule.access, request.access, coversAccess) &&
        coversValue(rule.namespace, request.namespace, coversName)
      );
  }
}

/**
 * A request for more than one thing (all hosts, all ports, all names) is hit by a deny of any of them. A folder is not
 * more than one thing: what lies in it is asked for when it is opened.
 */
function isWiderThan(request: Permission, rule: Permission): boolean {
  if (request.kind === "read" || request.kind === "write") return request.path === undefined && covers(request, rule);
  return overlaps(request, rule);
}

/** True when there is something that both permissions mean, each of which may be the narrower one in another respect. */
export function overlaps(a: Permission, b: Permission): boolean {
  if (a.kind === "net" && b.kind === "net") {
    return meets(a.host, b.host, coversHost) && meets(a.port, b.port, isSame);
  }
  if (a.kind === "memory" && b.kind === "memory") {
    return meets(a.access, b.access, coversAccess) && meets(a.namespace, b.namespace, coversName);
  }
  return covers(a, b) || covers(b, a);
}

/** Of two values of this language one covers the other, or they have nothing in common. */
function meets<T>(a: T | undefined, b: T | undefined, matches: (rule: T, request: T) => boolean): boolean {
  return coversValue(a, b, matches) || coversValue(b, a, matches);
}

function coversValue<T>(
  rule: T | undefined,
  request: T | undefined,
  matches: (rule: T, request: T) => boolean,
): boolean {
  return rule === undefined || (request !== undefined && matches(rule, request));
}

function isSame<T>(rule: T, request: T): boolean {
  return rule === request;
}

/** True when `path` is `folder` or below it, by whole components. Both normal, both absolute or both relative. */
export function isInFolder(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** `*.example.com` means example.com and everything below it, a network all its addresses. */
function coversHost(rule: string, host: string): boolean {
  if (rule === host) return true;
  if (rule.startsWith("*.")) return host === rule.slice(2) || host.endsWith(rule.slice(1));
  const outer = readNetwork(rule);
  if (!outer) return false;
  const inner = readNetwork(host);
  if (inner) return containsNetwork(outer, inner);
  const ip = readIp(host);
  return ip !== undefined && isInNetwork(outer, ip);
}

function coversName(rule: string, name: string): boolean {
  return rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

/** Who may read may search. */
function coversAccess(rule: MemoryAccess, access: MemoryAccess): boolean {
  return rule === access || (rule === "read" && access === "query");
}

/** True for hosts that neither all of `net` nor a name opens: this machine, and addresses and networks that are not public. */
function mustBeNamed(host: string): boolean {
  if (isLocalhost(host)) return true;
  const ip = readIp(host);
  if (ip) return classifyIp(ip) !== "public";
  const network = readNetwork(host);
  return network !== undefined && !isPublicNetwork(network);
}

/** The IPv4 address that an IPv6 address carries. */
function carriedHost(host: string): string | undefined {
  const ip = readIp(host);
  const carried = ip && embeddedIp(ip);
  return carried && carried !== ip ? printIp(carried) : undefined;
}
