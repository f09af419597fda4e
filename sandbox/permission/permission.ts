import { explainWildcard, normalizeHosts, printHost } from "./host.ts";
import { normalizePath } from "./path.ts";

/**
 * What code may touch. A permission without its value (`path`, `host` …) means all of its kind.
 * Paths are absolute and lexically normal; the real path is judged again when the file is open. A `host` is a name,
 * `*.name` (the name and all below it), an address or a network like `10.0.0.0/8`. Names of `env`, `tool` and memory
 * may end in `*`. `memory` with access `read` means searching too.
 */
export type Permission =
  | { readonly kind: "read" | "write"; readonly path?: string }
  | { readonly kind: "net"; readonly host?: string; readonly port?: number }
  | { readonly kind: "env"; readonly name?: string }
  | { readonly kind: "run"; readonly program?: string }
  | { readonly kind: "sys"; readonly api?: string }
  | { readonly kind: "tool"; readonly name?: string }
  | { readonly kind: "memory"; readonly access?: MemoryAccess; readonly namespace?: string };

export type PermissionKind = Permission["kind"];
export type MemoryAccess = "query" | "read" | "write";

/** What a person granted. A deny always beats an allow; what is in neither list is denied. */
export type Grant = { readonly allow: readonly Permission[]; readonly deny: readonly Permission[] };

/** What a person wrote, understood; or what is wrong with it, and what would be right. */
export type Parsed =
  | { readonly ok: true; readonly value: readonly Permission[] }
  | { readonly ok: false; readonly message: string };

export const PERMISSION_KINDS = ["read", "write", "net", "env", "run", "sys", "tool", "memory"] as const;

/** Facts about the machine that `sys` can open; everything else stays closed. */
export const SYSTEM_APIS = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "cpus",
  "systemMemoryInfo",
  "uid",
  "gid",
] as const;

/** Kinds that Deno has and that would end every confinement. */
const NEVER_GRANTED = ["ffi", "import", "all"] as const;

const NAME_FAULT = "not a name, nor a beginning of names with * at its end";

/**
 * Reads `kind` or `kind=value,value…`, for example `read=./src,/etc/hosts` or `net=*.example.com:443`. In paths `\`
 * takes the next character as it is, so that a comma can be written.
 * @param baseDir absolute folder that relative paths start from
 * @param homeDir absolute folder that `~` stands for; without it `~` is refused
 */
export function parsePermission(text: string, baseDir: string, homeDir?: string): Parsed {
  const at = text.indexOf("=");
  const word = (at < 0 ? text : text.slice(0, at)).trim();
  const kind = PERMISSION_KINDS.find((known) => known === word);
  if (!kind) return { ok: false, message: explainKind(word) };
  if (at < 0) return { ok: true, value: [{ kind }] };
  return parseValues(kind, splitList(text.slice(at + 1)), baseDir, homeDir);
}

/** Reads the values of one kind, each as it stands between two commas of the language. */
export function parseValues(
  kind: PermissionKind,
  texts: readonly string[],
  baseDir: string,
  homeDir: string | undefined,
): Parsed {
  const value: Permission[] = [];
  for (const text of texts) {
    const parsed = parseValue(kind, text, baseDir, homeDir);
    if (typeof parsed === "string") return { ok: false, message: `${kind}=${text}: ${parsed}` };
    value.push(parsed);
  }
  return { ok: true, value };
}

/** A permission as text; `parsePermission` reads it back unchanged. */
export function printPermission(permission: Permission): string {
  switch (permission.kind) {
    case "read":
    case "write":
      return printPair(permission.kind, escapePath(permission.path));
    case "net":
      return printPair("net", permission.host === undefined ? undefined : printHost(permission.host, permission.port));
    case "env":
    case "tool":
      return printPair(permission.kind, permission.name);
    case "run":
      return printPair("run", escapePath(permission.program));
    case "sys":
      return printPair("sys", permission.api);
    case "memory":
      return printPair("memory", printMemory(permission.access, permission.namespace));
  }
}

/** The permission, or what is wrong with the value. */
function parseValue(
  kind: PermissionKind,
  text: string,
  baseDir: string,
  homeDir: string | undefined,
): Permission | string {
  if (text === "") return `a value is missing after "${kind}=" or a comma; leave "=" away to mean all`;
  switch (kind) {
    case "read":
    case "write":
      return parsePath(kind, text, baseDir, homeDir);
    case "net":
      return parseNet(text);
    case "env":
      return /^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(text) ? { kind, name: text } : NAME_FAULT;
    case "tool":
      return /^[A-Za-z0-9_.-]+\*?$/.test(text) ? { kind, name: text } : NAME_FAULT;
    case "run":
      return parseProgram(text, baseDir, homeDir);
    case "sys":
      return SYSTEM_APIS.some((api) => api === text)
        ? { kind, api: text }
        : `unknown; there are ${SYSTEM_APIS.join(", ")}`;
    case "memory":
      return parseMemory(text);
  }
}

/** Splits at commas and takes blanks away around them, but for what stands behind a backslash. */
function splitList(text: string): string[] {
  const parts: string[][] = [[]];
  for (const [piece] of text.matchAll(/\\.|./gs)) {
    if (piece === ",") parts.push([]);
    else parts.at(-1)?.push(piece);
  }
  return parts.map((pieces) => {
    const isBlank = (piece: string) => piece.trim() === "";
    const first = pieces.findIndex((piece) => !isBlank(piece));
    return first < 0 ? "" : pieces.slice(first, pieces.findLastIndex((piece) => !isBlank(piece)) + 1).join("");
  });
}

/** An absolute normal path, or what is wrong with it. */
function resolvePath(text: string, baseDir: string, homeDir: string | undefined): string | { readonly fault: string } {
  if (/^(?:file:|[a-z][a-z0-9+.-]*:\/\/)/i.test(text)) return { fault: "a URL is no path; write the path alone" };
  if (/(?<!\\)(?:\\\\)*\*/.test(text))
    return { fault: "paths have no patterns; name the folder, which means all that is in it" };
  const path = text.replace(/\\(.)/gs, "$1");
  if (!text.startsWith("~")) return normalPath(path.startsWith("/") ? path : `${baseDir}/${path}`);
  if (homeDir === undefined) return { fault: "~ is not resolved here; write the whole path" };
  if (path !== "~" && !path.startsWith("~/")) return { fault: "other people's home folders are written out" };
  return normalPath(`${homeDir}${path.slice(1)}`);
}

function normalPath(path: string): string | { readonly fault: string } {
  return normalizePath(path) ?? { fault: "not a path" };
}

function parsePath(
  kind: "read" | "write",
  text: string,
  baseDir: string,
  homeDir: string | undefined,
): Permission | string {
  const path = resolvePath(text, baseDir, homeDir);
  return typeof path === "string" ? { kind, path } : path.fault;
}

function parseProgram(text: string, baseDir: string, homeDir: string | undefined): Permission | string {
  if (!text.includes("/"))
    return /^[\w.+-]+$/.test(text) ? { kind: "run", program: text } : "not the name of a program";
  const program = resolvePath(text, baseDir, homeDir);
  return typeof program === "string" ? { kind: "run", program } : program.fault;
}

function parseNet(text: string): Permission | string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return "a URL; write HOST or HOST:PORT";
  const found = /^((?:\*\.)?(?:\[[^\]]*\]|[^:[\]/]*))(\/\d{1,3})?(?::(\d{1,5}))?$/.exec(text);
  if (/^[^[]*:.*:/.test(text)) return "an IPv6 address stands in brackets, as in [fc00::1]:443 or [fc00::]/7";
  if (!found && text.includes("/")) return "neither a host nor a network; write HOST:PORT or 10.0.0.0/8";
  if (!found) return "not HOST or HOST:PORT";
  const [, name = "", prefix = "", portText] = found;
  const host = normalizeHosts(`${name}${prefix}`);
  const wildcardFault = name.startsWith("*.") ? explainWildcard(host?.slice(2) ?? name.slice(2)) : undefined;
  if (wildcardFault !== undefined) return wildcardFault;
  if (host === undefined && prefix !== "") return "not a network; write an address and its length, as in 10.0.0.0/8";
  if (host === undefined) return "not a host; * stands only in front, as in *.example.com";
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return "the port must be 1 to 65535";
  return { kind: "net", host, ...(port === undefined ? {} : { port }) };
}

function parseMemory(text: string): Permission | string {
  const [, access, namespace] = /^(query|read|write)(?::([A-Za-z0-9_./-]+\*?))?$/.exec(text) ?? [];
  if (access === "query" || access === "read" || access === "write")
    return { kind: "memory", access, ...(namespace === undefined ? {} : { namespace }) };
  return /^(?:query|read|write):/.test(text)
    ? "not a namespace, nor a beginning of namespaces with * at its end"
    : "unknown; there are query, read and write, each with :NAMESPACE if it is not for all";
}

function printPair(kind: PermissionKind, value: string | undefined): string {
  return value === undefined ? kind : `${kind}=${value}`;
}

function escapePath(path: string | undefined): string | undefined {
  return path?.replace(/[\\,*]|\s$/g, "\\$&");
}

function printMemory(access: MemoryAccess | undefined, namespace: string | undefined): string | undefined {
  return access === undefined || namespace === undefined ? access : `${access}:${namespace}`;
}

function explainKind(word: string): string {
  if (NEVER_GRANTED.some((never) => never === word))
    return `"${word}" cannot be granted, because it would open everything else`;
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
