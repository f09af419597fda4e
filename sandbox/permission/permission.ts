/**
 * What code may touch. A permission without its value (`path`, `host` …) means all of its kind.
 * Paths are absolute and lexically normal; the real path is judged again when the file is open.
 */
export type Permission =
  | { readonly kind: "read" | "write"; readonly path?: string }
  | { readonly kind: "net"; readonly host?: string; readonly port?: number }
  | { readonly kind: "env"; readonly name?: string }
  | { readonly kind: "run"; readonly program?: string }
  | { readonly kind: "sys"; readonly api?: string }
  | { readonly kind: "tool"; readonly name?: string }
  | { readonly kind: "memory"; readonly access?: "read" | "write" };

export type PermissionKind = Permission["kind"];

/** What a person granted. A deny always beats an allow; what is in neither list is denied. */
export type Grant = { readonly allow: readonly Permission[]; readonly deny: readonly Permission[] };

/** What a person wrote, understood; or what is wrong with it, and what would be right. */
export type Parsed =
  | { readonly ok: true; readonly value: readonly Permission[] }
  | { readonly ok: false; readonly message: string };

const PERMISSION_KINDS = ["read", "write", "net", "env", "run", "sys", "tool", "memory"] as const;

/** Facts about the machine that `sys` can open; everything else stays closed. */
const SYSTEM_APIS = ["hostname", "osRelease", "osUptime", "loadavg", "cpus", "systemMemoryInfo", "uid", "gid"];

/** Kinds that Deno has and that would end every confinement. */
const NEVER_GRANTED = ["ffi", "import", "all"];

/**
 * Reads `kind` or `kind=value,value…`, for example `read=./src,/etc/hosts` or `net=*.example.com:443`.
 * @param baseDir absolute folder that relative paths start from
 */
export function parsePermission(text: string, baseDir: string): Parsed {
  const at = text.indexOf("=");
  const word = (at < 0 ? text : text.slice(0, at)).trim();
  const kind = PERMISSION_KINDS.find((known) => known === word);
  if (!kind) return bad(explainKind(word));
  if (at < 0) return { ok: true, value: [{ kind }] };
  const value: Permission[] = [];
  for (const part of text.slice(at + 1).split(",")) {
    const parsed = parseValue(kind, part.trim(), baseDir);
    if (typeof parsed === "string") return bad(`${kind}=${part.trim()}: ${parsed}`);
    value.push(parsed);
  }
  return { ok: true, value };
}

/** A permission as text; `parsePermission` reads its own ones back from it unchanged. */
export function printPermission(permission: Permission): string {
  switch (permission.kind) {
    case "read":
    case "write":
      return printPair(permission.kind, permission.path);
    case "net":
      return printPair("net", permission.host === undefined ? undefined : printHost(permission.host, permission.port));
    case "env":
    case "tool":
      return printPair(permission.kind, permission.name);
    case "run":
      return printPair("run", permission.program);
    case "sys":
      return printPair("sys", permission.api);
    case "memory":
      return printPair("memory", permission.access);
  }
}

/**
 * Resolves `.`, `..` and double slashes of an absolute path without looking at the disk; undefined for anything else.
 */
export function normalizePath(path: string): string | undefined {
  if (!path.startsWith("/") || path.includes("\0")) return undefined;
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/**
 * The one spelling of a host: lower case, punycode, no last dot, numbers as dotted IPv4, IPv6 without brackets.
 * Undefined for what is no host.
 */
export function normalizeHost(host: string): string | undefined {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  if (bracketed === "" || /[/?#@\\\s*%]/.test(bracketed) || /\]:|^[^[].*:/.test(bracketed)) return undefined;
  try {
    return new URL(`http://${bracketed}`).hostname.replace(/\.$/, "").replace(/^\[|\]$/g, "") || undefined;
  } catch {
    return undefined;
  }
}

/** The permission, or what is wrong with the value. */
function parseValue(kind: PermissionKind, text: string, baseDir: string): Permission | string {
  if (text === "") return `a value is missing after "${kind}=" or a comma; leave "=" away to mean all`;
  switch (kind) {
    case "read":
    case "write":
      return parsePath(kind, text, baseDir);
    case "net":
      return parseNet(text);
    case "env":
      return /^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(text)
        ? { kind, name: text }
        : "not a name, nor a beginning of names with * at its end";
    case "tool":
      return /^[A-Za-z0-9_.-]+\*?$/.test(text)
        ? { kind, name: text }
        : "not a name, nor a beginning of names with * at its end";
    case "run":
      return parseProgram(text, baseDir);
    case "sys":
      return SYSTEM_APIS.includes(text) ? { kind, api: text } : `unknown; there are ${SYSTEM_APIS.join(", ")}`;
    case "memory":
      return text === "read" || text === "write" ? { kind, access: text } : "unknown; there are read and write";
  }
}

function parsePath(kind: "read" | "write", text: string, baseDir: string): Permission | string {
  if (text.startsWith("~")) return "~ is not resolved here; write the whole path";
  if (text.includes("*")) return "paths have no patterns; name the folder, which means all that is in it";
  const path = normalizePath(text.startsWith("/") ? text : `${baseDir}/${text}`);
  return path === undefined ? "not a path" : { kind, path };
}

function parseProgram(text: string, baseDir: string): Permission | string {
  if (!text.includes("/"))
    return /^[\w.+-]+$/.test(text) ? { kind: "run", program: text } : "not the name of a program";
  const program = normalizePath(text.startsWith("/") ? text : `${baseDir}/${text}`);
  return program === undefined ? "not a path" : { kind: "run", program };
}

function parseNet(text: string): Permission | string {
  if (text.includes("/")) return "an address or a network; write HOST or HOST:PORT";
  const found = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text);
  if (!found) return "not HOST or HOST:PORT; an IPv6 address stands in brackets";
  const [, wildcard, name = "", portText] = found;
  const host = normalizeHost(name);
  if (host === undefined) return "not a host; * stands only in front, as in *.example.com";
  if (wildcard && (!host.includes(".") || /^[\d.]+$|:/.test(host)))
    return "too wide; name at least a domain, as in *.example.com";
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return "the port must be 1 to 65535";
  return { kind: "net", host: `${wildcard ?? ""}${host}`, ...(port === undefined ? {} : { port }) };
}

function printPair(kind: PermissionKind, value: string | undefined): string {
  return value === undefined ? kind : `${kind}=${value}`;
}

function printHost(host: string, port: number | undefined): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

function explainKind(word: string): string {
  if (NEVER_GRANTED.includes(word)) return `"${word}" cannot be granted, because it would open everything else`;
  const list = PERMISSION_KINDS.join(", ");
  const nearest = PERMISSION_KINDS.find(
    (kind) => word !== "" && editDistance(word.toLowerCase(), kind) <= kind.length / 2,
  );
  const meant = nearest ? `; did you mean "${nearest}"?` : "";
  return `"${word}" is no kind of permission${meant} (there are ${list})`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const changed = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function bad(message: string): Parsed {
  return { ok: false, message };
}
