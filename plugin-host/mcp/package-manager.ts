import { lookup } from "node:dns/promises";
import type { FailureCode, Result } from "../../core/domain/failure.ts";
import type { Permission } from "../../sandbox/permission/permission.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import type { InstallerEnd, InstallerPlace, InstallerProgram } from "./installer-run.ts";
import type { PackageWords } from "./package-words.ts";

/** In the folder that an installer works in: its own copies of what it fetched, and what it says of it; removed after it was read. */
export const CACHE_FOLDER = "cache";

/** One run of an installer, by the person's own settings. */
export type FetchPlan = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that the settings are made of and name, absolute. */
  readonly read: readonly string[];
  /** Their registries, and nothing else. */
  readonly net: readonly Permission[];
};

export type Complaint = {
  readonly code: FailureCode;
  /** Its own words, a line each; none when it said nothing. */
  readonly lines: readonly string[];
  readonly next: string;
};

/** What fetches packages of one kind: one adapter a program of the person's. */
export type PackageManager = {
  /** As messages name it. */
  readonly name: string;
  /** Undefined when the person has none that can be used. */
  find(place: InstallerPlace): InstallerProgram | undefined;
  /** Asks the program, which knows best, what its settings are. `invalid` when it will not say. */
  plan(
    place: InstallerPlace,
    program: InstallerProgram,
    folder: string,
    wanted: PackageWords,
    signal: AbortSignal,
  ): Promise<Result<FetchPlan>>;
  /**
   * True when it asks no host but its registries and those that they name for their files. Then it may have these, too, by their
   * names: nobody else can say where an index keeps them.
   */
  readonly wantsWhatRegistriesName?: true;
  explain(end: InstallerEnd, folder: string): Complaint;
  /** What lies in `serverFolder`/`folder` after it. `not_found` when it has no such program. */
  inspect(place: InstallerPlace, serverFolder: string, folder: string, wanted: PackageWords): Result<FetchedPackage>;
};

/**
 * A registry's host, and the addresses that it has now: one in the person's own network would otherwise not be reached under
 * its name.
 */
export async function reachOf(address: string): Promise<readonly Permission[]> {
  if (!URL.canParse(address)) return [];
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, "");
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const found = await lookup(host, { all: true }).catch(() => []);
  const hosts = new Set([host, ...found.map((one) => one.address)]);
  return [...hosts].map((one) => ({ kind: "net", host: one, port: number }));
}

/** Variables of the daemon's, by their names. */
export function pick(env: InstallerPlace["env"], names: Iterable<string>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...new Set(names)].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
}
