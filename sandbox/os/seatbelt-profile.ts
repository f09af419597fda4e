import { isInFolder } from "../permission/grant.ts";
import type { CheckedSpec } from "./launch-check.ts";
import type { Confinement } from "./launcher.ts";

/** Name under which the launch says where the proxy listens, because that is known only when the child starts. */
export const PROXY_PARAMETER = "PROXY";

/** What programs are made of on macOS; `system.sb`, which Apple keeps, opens what every process needs to start. */
const LIBRARY_FOLDERS = ["/System", "/usr/lib", "/usr/share", "/Library/Apple", "/Library/Frameworks"];
const PROGRAM_FOLDERS = ["/bin", "/sbin", "/usr", "/opt/homebrew", "/opt/local", "/Library/Developer", "/private/etc"];
const NETWORK_FILES = ["/private/etc/hosts", "/private/etc/resolv.conf", "/private/etc/services", "/private/etc/ssl"];

export type SeatbeltPlaces = Pick<CheckedSpec, "program" | "read" | "write" | "hide"> & {
  readonly confinement: Pick<Confinement, "network" | "system" | "folders">;
  /** Real path of the folder that takes the place of /tmp for this child. */
  readonly scratch: string;
  /** Real paths in `read` that are sockets: what is shown of them is that they can be connected to. */
  readonly sockets: readonly string[];
};

type Rule = { readonly at: string; readonly kind: "read" | "write" | "hide" };

/**
 * The profile of `sandbox-exec` that holds a child to its confinement. Everything is denied that no line allows; of two
 * lines for one thing the later one decides, so deeper paths come after those above them.
 */
export function seatbeltProfile(places: SeatbeltPlaces): string {
  const rules = planRules(places);
  const { confinement } = places;
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    "(allow process-fork)",
    "(allow process-exec)",
    "(allow sysctl-read)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    ...waysTo(rules, confinement.folders ?? []),
    ...rules.flatMap(ruleLines),
    ...rules.flatMap((rule) => heldFast(rule, rules)),
    ...networkLines(places),
    "",
  ].join("\n");
}

/** A string of the profile's language, in which only two characters mean something else than themselves. */
export function quoteForProfile(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

function planRules({ program, read, write, hide, confinement, scratch }: SeatbeltPlaces): readonly Rule[] {
  const rules = new Map<string, Rule>();
  const add = (at: string, kind: Rule["kind"]) => rules.set(at, { at, kind });
  const system = [...LIBRARY_FOLDERS, ...(confinement.system === "programs" ? PROGRAM_FOLDERS : [])];
  for (const at of system) add(at, "read");
  if (confinement.network !== "none") for (const at of NETWORK_FILES) add(at, "read");
  add(scratch, "write");
  for (const { real } of read) add(real, "read");
  for (const { real } of write) add(real, "write");
  if (rules.get(program.real)?.kind !== "write") add(program.real, "read");
  for (const at of hide) add(at, "hide");
  return [...rules.values()].sort((a, b) => depthOf(a.at) - depthOf(b.at));
}

function ruleLines({ at, kind }: Rule): readonly string[] {
  const place = `(subpath ${quoteForProfile(at)})`;
  switch (kind) {
    case "read":
      return [`(allow file-read* ${place})`, `(deny file-write* ${place})`];
    case "write":
      return [`(allow file-read* file-write* ${place})`];
    case "hide":
      return [`(deny file-read* file-write* ${place})`];
  }
}

/** That the folders above a place are there can be seen: without that no path leads to it. */
function waysTo(rules: readonly Rule[], folders: readonly string[]): readonly string[] {
  const shown = rules.filter(({ kind }) => kind !== "hide").flatMap(({ at }) => foldersAbove(at));
  const above = new Set([...shown, ...folders.flatMap((at) => [...foldersAbove(at), at])]);
  return [...above].sort().map((at) => `(allow file-read-metadata (literal ${quoteForProfile(at)}))`);
}

/** Rules go by names: what is protected in a writable folder would lose its protection with its name, or a folder's above it. */
function heldFast({ at, kind }: Rule, rules: readonly Rule[]): readonly string[] {
  if (kind === "write") return [];
  const roots = rules.filter((rule) => rule.kind === "write" && rule.at !== at && isInFolder(rule.at, at));
  const held = foldersAbove(at).filter((folder) => roots.some((root) => isInFolder(root.at, folder)));
  return [...held, ...(roots.length === 0 ? [] : [at])].map(
    (folder) => `(deny file-write-unlink (literal ${quoteForProfile(folder)}))`,
  );
}

function networkLines({ confinement, sockets }: SeatbeltPlaces): readonly string[] {
  const own = sockets.map(
    (path) => `(allow network-outbound (remote unix-socket (path-literal ${quoteForProfile(path)})))`,
  );
  switch (confinement.network) {
    case "none":
      return own;
    case "host":
      return ["(allow network*)", "(system-network)"];
    default:
      return [...own, `(allow network-outbound (remote ip (param ${quoteForProfile(PROXY_PARAMETER)})))`];
  }
}

/** "/a/b/c" → "/", "/a", "/a/b". */
function foldersAbove(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "");
  return names.map((_, index) => `/${names.slice(0, index).join("/")}`);
}

function depthOf(path: string): number {
  return path.split("/").filter((name) => name !== "").length;
}
