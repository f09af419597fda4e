import { normalizePath } from "./path.ts";
import { PERMISSION_KINDS, type Permission, parseValues, SYSTEM_APIS } from "./permission.ts";

/**
 * What `Deno.permissions` was asked about. `undefined`: a kind that Deno knows and that is never open here, whose state
 * is always "denied". `name` is that of the error that Deno throws for what cannot be asked.
 */
export type ParsedDescriptor =
  | { readonly ok: true; readonly value: Permission | undefined }
  | { readonly ok: false; readonly name: "TypeError" | "URIError" | "Error"; readonly message: string };

/** What Deno asks about and clawd never opens. */
const NEVER_OPEN_KINDS = ["ffi", "import"];
const NEVER_OPEN_SYSTEM_APIS = [
  "networkInterfaces",
  "inspector",
  "userInfo",
  "username",
  "homedir",
  "getegid",
  "geteuid",
  "getPriority",
  "setPriority",
  "statfs",
];

/**
 * Reads a permission descriptor. Unlike in a flag the value is one thing as it is: no list, no `~`, no escapes.
 * @param descriptor a guest's words
 * @param baseDir absolute folder that relative paths start from
 */
export function parseDescriptor(
  descriptor: { readonly name: string; readonly value: string | null },
  baseDir: string,
): ParsedDescriptor {
  const { name, value } = descriptor;
  const kind = PERMISSION_KINDS.find((known) => known === name);
  if (!kind) {
    if (NEVER_OPEN_KINDS.includes(name)) return { ok: true, value: undefined };
    return bad("TypeError", `The provided value "${name}" is not a valid permission name`);
  }
  if (value === null) return { ok: true, value: { kind } };
  switch (kind) {
    case "read":
    case "write":
      return value === ""
        ? bad("Error", "Empty path is not allowed")
        : readPath(value, baseDir, (path) => ({ kind, path }));
    case "run":
      if (value === "") return bad("Error", "Empty run query is not allowed");
      if (!value.includes("/")) return { ok: true, value: { kind, program: value } };
      return readPath(value, baseDir, (program) => ({ kind, program }));
    case "net":
      return readNet(value);
    case "sys":
      return readSystemApi(value);
    case "env":
    case "tool":
    case "memory":
      return readName(kind, value);
  }
}

function readPath(text: string, baseDir: string, permission: (path: string) => Permission): ParsedDescriptor {
  const path = normalizePath(text.startsWith("/") ? text : `${baseDir}/${text}`);
  return path === undefined
    ? bad("TypeError", "a path must not have a NUL in it")
    : { ok: true, value: permission(path) };
}

function readNet(text: string): ParsedDescriptor {
  if (text === "") return bad("URIError", "invalid empty host: ''");
  if (text.includes("://"))
    return bad("URIError", `invalid value '${text}': URLs are not supported, only domains and IPs`);
  const parsed = parseValues("net", [text], "/", undefined);
  if (!parsed.ok || text.includes("*")) return bad("URIError", `invalid host '${text}'`);
  return { ok: true, value: parsed.value[0] };
}

function readSystemApi(text: string): ParsedDescriptor {
  if (SYSTEM_APIS.some((api) => api === text)) return { ok: true, value: { kind: "sys", api: text } };
  if (NEVER_OPEN_SYSTEM_APIS.includes(text)) return { ok: true, value: undefined };
  return bad("TypeError", `unknown system info kind "${text}"`);
}

function readName(kind: "env" | "tool" | "memory", text: string): ParsedDescriptor {
  const parsed = parseValues(kind, [text], "/", undefined);
  return parsed.ok ? { ok: true, value: parsed.value[0] } : bad("TypeError", parsed.message);
}

function bad(name: "TypeError" | "URIError" | "Error", message: string): ParsedDescriptor {
  return { ok: false, name, message };
}
