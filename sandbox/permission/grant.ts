import { type Grant, normalizeHost, normalizePath, type Permission, printPermission } from "./permission.ts";

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

/** Judges one request. Deny beats allow, and what is in neither list is denied. */
export function check<P extends Permission>(
  grant: Grant,
  request: P,
): { readonly ok: true; readonly value: Checked<P> } | Denied {
  const wanted = normalize(request);
  if (!wanted)
    return {
      ok: false,
      message: `${printPermission(request)} is malformed`,
      hint: "use an absolute path or a plain host",
    };
  const text = printPermission(wanted);
  const denying = grant.deny.find((rule) => covers(rule, wanted) || isWiderThan(wanted, rule));
  if (denying) {
    return {
      ok: false,
      message: `${text} is denied`,
      hint: `take away --deny-${printPermission(denying)} to allow it`,
    };
  }
  if (!grant.allow.some((rule) => covers(rule, wanted))) {
    return { ok: false, message: `${text} is not granted`, hint: `grant it with --allow-${text}` };
  }
  return { ok: true, value: wanted as Checked<P> };
}

/** True when everything that `request` means is also meant by `rule`. */
function covers(rule: Permission, request: Permission): boolean {
  switch (rule.kind) {
    case "read":
    case "write":
      return rule.kind === request.kind && coversValue(rule.path, request.path, isInFolder);
    case "net":
      return (
        rule.kind === request.kind &&
        coversValue(rule.host, request.host, isHost) &&
        coversValue(rule.port, request.port, (a, b) => a === b)
      );
    case "env":
    case "tool":
      return rule.kind === request.kind && coversValue(rule.name, request.name, isNamed);
    case "run":
      return rule.kind === request.kind && coversValue(rule.program, request.program, (a, b) => a === b);
    case "sys":
      return rule.kind === request.kind && coversValue(rule.api, request.api, (a, b) => a === b);
    case "memory":
      return rule.kind === request.kind && coversValue(rule.access, request.access, (a, b) => a === b);
  }
}

/**
 * A request for more than one thing (all hosts, all ports, all names) is hit by a deny of any of them. A folder is not
 * more than one thing: what lies in it is asked for when it is opened.
 */
function isWiderThan(request: Permission, rule: Permission): boolean {
  if (request.kind === "read" || request.kind === "write") return request.path === undefined && covers(request, rule);
  return covers(request, rule);
}

function coversValue<T>(
  rule: T | undefined,
  request: T | undefined,
  matches: (rule: T, request: T) => boolean,
): boolean {
  return rule === undefined || (request !== undefined && matches(rule, request));
}

/** True when `path` is `folder` or below it, by whole components. Both normal, both absolute or both relative. */
export function isInFolder(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** `*.example.com` means example.com and everything below it. */
function isHost(rule: string, host: string): boolean {
  if (!rule.startsWith("*.")) return rule === host;
  return host === rule || host === rule.slice(2) || host.endsWith(rule.slice(1));
}

function isNamed(rule: string, name: string): boolean {
  return rule.endsWith("*") ? name.startsWith(rule.slice(0, -1)) : rule === name;
}

function normalize<P extends Permission>(request: P): P | undefined {
  if ((request.kind === "read" || request.kind === "write") && request.path !== undefined) {
    const path = normalizePath(request.path);
    return path === undefined ? undefined : { ...request, path };
  }
  if (request.kind === "net" && request.host !== undefined) {
    const wildcard = request.host.startsWith("*.") ? "*." : "";
    const host = normalizeHost(request.host.slice(wildcard.length));
    return host === undefined ? undefined : { ...request, host: `${wildcard}${host}` };
  }
  return request;
}
