import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isInFolder } from "../../sandbox/permission/grant.ts";
import { printPermission } from "../../sandbox/permission/permission.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import { findPython } from "./python-program.ts";
import type { McpServer } from "./server-entry.ts";
import { isOfSystem } from "./system-folders.ts";

/** What marks the folder of a package. */
const PACKAGE_FILES = ["package.json", "pyproject.toml"];
/** How far above a script its package is looked for. */
const MAX_LEVELS = 6;
const SCRIPT = /\.(js|mjs|cjs|ts|mts|py|rb|sh|pl|php|lua|jar)$/;

/** A server as it is started, and what it may touch. */
export type Launch = { readonly command: readonly string[]; readonly allow: readonly string[] };

export type UsualGrantPlace = {
  /** Absolute folder that relative paths start from. */
  readonly folder: string;
  /** Whoever may read this may read everything of the person's: it is never granted as a whole. */
  readonly homeDir: string;
  /** Where programs are looked for. */
  readonly searchPath: string;
};

/** A server that is dialled reaches the machine and port of its address and nothing else. */
export function usualGrantOfUrl(url: string): readonly string[] {
  const { hostname, port, protocol } = new URL(url);
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return [printPermission({ kind: "net", host: hostname.replace(/^\[|\]$/g, ""), port: number })];
}

/**
 * A server that is started reads the package of the program and of the scripts among its arguments, and the files and folders
 * that these name; it runs the system's programs, unless its owner named some, and writes a folder of its own. A package that was
 * fetched for it lies in its own folder, which it sees anyway: what it may touch is the same before and after.
 */
export function usualLaunch(server: McpServer, place: UsualGrantPlace, fetched?: FetchedPackage): Launch {
  if (server.reach.kind !== "stdio") return { command: [], allow: usualGrantOfUrl(server.reach.url) };
  const { command, fetches } = server.reach;
  const args = fetches?.ok ? fetches.value.args : server.reach.args;
  const program = fetches === undefined ? findProgram(command, place) : command;
  const words = args.map((arg) => absoluteIfThere(arg, place.folder));
  const read = new Set<string>(
    fetches?.ok && fetches.value.kind === "python" ? findPython(place.searchPath, place.homeDir)?.read : [],
  );
  for (const word of [program, ...words]) for (const path of foldersNamed(word, place.homeDir)) read.add(path);
  const runs = server.allow.some((one) => one === "run" || one.startsWith("run=")) ? [] : ["run"];
  const reads = [...read].map((path) => printPermission({ kind: "read", path }));
  return { command: [...(fetched?.command ?? [program]), ...words], allow: [...runs, "write=./data", ...reads] };
}

/** Everything that a server may touch: the usual, and what its entry allows. */
export function wholeGrant(server: McpServer, place: UsualGrantPlace): readonly string[] {
  return [...new Set([...usualLaunch(server, place).allow, ...server.allow])];
}

/** A program that only the owner's search path leads to is named by its path: the sandbox knows the system's alone. */
function findProgram(command: string, { folder, searchPath }: UsualGrantPlace): string {
  if (command.includes("/")) return resolve(folder, command);
  if (command === "node") return command;
  const found = searchPath
    .split(":")
    .filter((one) => isAbsolute(one))
    .map((one) => join(one, command))
    .find((file) => isFile(file));
  return found === undefined || isOfSystem(found) ? command : found;
}

/** `./server.js` and `server.js` mean the file beside the one that names them: the server itself runs elsewhere. */
function absoluteIfThere(arg: string, folder: string): string {
  if (arg === "" || isAbsolute(arg) || arg.startsWith("-") || arg.length > 4096) return arg;
  const path = resolve(folder, arg);
  const isMeant = arg === "." || /^\.{1,2}\//.test(arg) || SCRIPT.test(arg);
  return isMeant && existsSync(path) ? path : arg;
}

/** What has to be seen for a word of the command line; nothing for one that names no file or folder. */
function foldersNamed(word: string, homeDir: string): readonly string[] {
  const path = word.startsWith("-") ? word.slice(word.indexOf("=") + 1) : word;
  if (!isAbsolute(path) || isOfSystem(path) || !existsSync(path)) return [];
  const real = realpathSync(path);
  const isTooMuch = (folder: string) => folder === "/" || isInFolder(folder, homeDir);
  if (!isFile(real)) return isTooMuch(real) ? [] : [path, real];
  const isProgram = SCRIPT.test(real) || (statSync(real).mode & 0o111) !== 0;
  const folder = isProgram ? packageFolder(real, isTooMuch) : undefined;
  return folder === undefined ? [path, real] : [...(isInFolder(folder, path) ? [] : [path]), folder];
}

/** With what it needs of others: a package that lies in a node_modules finds them there. */
function packageFolder(file: string, isTooMuch: (folder: string) => boolean): string | undefined {
  const at = file.indexOf("/node_modules/");
  if (at > 0) return file.slice(0, at + "/node_modules".length);
  const own = dirname(file);
  for (let [folder, level] = [own, 0]; level < MAX_LEVELS && !isTooMuch(folder); level += 1) {
    if (PACKAGE_FILES.some((name) => existsSync(join(folder, name)))) return folder;
    folder = dirname(folder);
  }
  // A script that lies about alone, in a folder with who knows what: it is seen, its neighbours are not.
  return undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
