import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { basename, join } from "node:path";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { oneByOne } from "../../core/domain/one-by-one.ts";
import type { Clock } from "../life/clock.ts";
import { findExcess, watchDisk } from "../life/disk-watch.ts";
import { type FetchedPackage, readFetched, writeFetched } from "./fetched-package.ts";
import { type InstallerEnd, type InstallerPlace, type InstallerProgram, runInstaller } from "./installer-run.ts";
import { NPM } from "./npm-manager.ts";
import { CACHE_FOLDER, type FetchPlan, type PackageManager } from "./package-manager.ts";
import type { PackageKind, PackageWords } from "./package-words.ts";
import { PIP } from "./pip-manager.ts";
import { UV } from "./uv-manager.ts";

const FETCH_LIMIT_MS = 5 * 60_000;
/** With what it needs of others, and the installer's own copies of all of it. */
const PACKAGE_LIMIT_MIB = 2048;
const PREFIX = "fetched-";
/** Lines of an installer's that a message takes over, and UTF-16 code units of each: registries have their words in them. */
const MAX_LINES = 4;
const LINE_LIMIT_CHARS = 300;
/** Addresses that a message names. */
const MAX_ADDRESSES = 8;
const BY_HAND = "install the server by hand and name its program (docs/mcp.md)";

export type PackageFetcher = {
  /**
   * Fetches the newest package that fits the words into a server's own folder, in the place of one before, whose folder stays until
   * `tidy`. On failure all is as it was.
   * @param serverFolder absolute
   */
  fetch(serverFolder: string, wanted: PackageWords): Promise<Result<FetchedPackage>>;
  /** Removes what is not in use, or, without words, all packages. */
  tidy(serverFolder: string, wanted: PackageWords | undefined): Promise<void>;
};

/** By which packages of a kind are fetched: the first that the person has. */
const MANAGERS: Readonly<Record<PackageKind, readonly PackageManager[]>> = { npm: [NPM], python: [UV, PIP] };
const MISSING: Readonly<Record<PackageKind, Omit<Failure, "code">>> = {
  npm: { message: "there is no npm on the daemon's search path, and a package is fetched by it", hint: "install npm" },
  python: {
    message:
      "there is no python3 on the daemon's search path whose folder a sandbox may show, and a package runs on it",
    hint: "install Python",
  },
};

type Installer = { readonly manager: PackageManager; readonly program: InstallerProgram };

/** Fetches packages by the person's own installers, one after the other. */
export function openPackageFetcher(place: InstallerPlace & { readonly clock: Clock }): PackageFetcher {
  const inTurn = oneByOne();

  async function fetchInto(serverFolder: string, wanted: PackageWords): Promise<Result<FetchedPackage>> {
    const installer = findInstaller(place, wanted.kind);
    if (installer === undefined) {
      const { message, hint } = MISSING[wanted.kind];
      return fail("unavailable", message, { hint: `${hint}, or ${BY_HAND}` });
    }
    await mkdir(serverFolder, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(serverFolder, PREFIX));
    const kept = await install(installer, serverFolder, folder, wanted).catch((cause: unknown) =>
      fail(
        "unavailable",
        `${installer.manager.name} could not be run for ${wanted.packages.join(", ")}: ${String(cause)}`,
        {
          hint: BY_HAND,
          cause,
        },
      ),
    );
    if (!kept.ok || kept.value.folder !== basename(folder)) await rm(folder, { recursive: true, force: true });
    return kept;
  }

  async function install(installer: Installer, serverFolder: string, folder: string, wanted: PackageWords) {
    const signal = AbortSignal.timeout(FETCH_LIMIT_MS);
    const plan = await installer.manager.plan(place, installer.program, folder, wanted, signal);
    if (!plan.ok) return plan;
    const end = await installBy(place, installer, folder, plan.value, wanted, signal);
    if (!end.ok) return end;
    const found = installer.manager.inspect(place, serverFolder, basename(folder), wanted);
    if (!found.ok) return found;
    await rm(join(folder, CACHE_FOLDER), { recursive: true, force: true });
    const before = await readFetched(serverFolder, wanted);
    // The same again: what runs runs on.
    if (before !== undefined && before.version === found.value.version && before.integrity === found.value.integrity)
      return ok(before);
    const written = await writeFetched(serverFolder, found.value);
    return written.ok ? found : written;
  }

  return {
    fetch: (serverFolder, wanted) => inTurn(() => fetchInto(serverFolder, wanted)),
    tidy: (serverFolder, wanted) =>
      inTurn(async () => {
        const kept = wanted === undefined ? undefined : await readFetched(serverFolder, wanted);
        const names = await readdir(serverFolder).catch(() => []);
        const old = names.filter((name) => name.startsWith(PREFIX) && name !== kept?.folder);
        await Promise.all(old.map((name) => rm(join(serverFolder, name), { recursive: true, force: true })));
      }),
  };
}

function findInstaller(place: InstallerPlace, kind: PackageKind): Installer | undefined {
  for (const manager of MANAGERS[kind]) {
    const program = manager.find(place);
    if (program !== undefined) return { manager, program };
  }
  return undefined;
}

async function installBy(
  place: InstallerPlace & { readonly clock: Clock },
  { manager, program }: Installer,
  folder: string,
  plan: FetchPlan,
  wanted: PackageWords,
  timeout: AbortSignal,
): Promise<Result<void>> {
  const full = new AbortController();
  const signal = AbortSignal.any([timeout, full.signal]);
  const share = { folders: [folder], limitMib: PACKAGE_LIMIT_MIB };
  const endWatch = watchDisk(share, place.clock, (because) => full.abort(because));
  const run = (net: FetchPlan["net"]) => runOnce(place, program, folder, { ...plan, net }, signal);
  try {
    let { end, denied } = await run(plan.net);
    const named = denied.filter(({ host }) => isIP(host) === 0);
    if (end.code !== 0 && manager.wantsWhatRegistriesName && named.length > 0 && !signal.aborted)
      ({ end, denied } = await run([...plan.net, ...named.map((one) => ({ kind: "net" as const, ...one }))]));
    // The last look may have been long before the end.
    const excess = await findExcess(share);
    if (excess !== undefined) full.abort(excess);
    if (end.code === 0 && !signal.aborted) return ok(undefined);
    const which = `the package ${wanted.packages.join(", ")} could not be fetched`;
    if (full.signal.aborted) return fail("exhausted", `${which}: ${String(full.signal.reason)}`, { hint: BY_HAND });
    if (timeout.aborted)
      return fail("timed_out", `${which} within ${FETCH_LIMIT_MS / 60_000} minutes`, { hint: "try again" });
    return explain(which, manager, end, folder, denied);
  } finally {
    endWatch();
  }
}

type Address = { readonly host: string; readonly port: number };

/** And which addresses it wanted that it may not have, the first of them. */
async function runOnce(
  place: InstallerPlace,
  program: InstallerProgram,
  folder: string,
  { args, env, read, net }: FetchPlan,
  signal: AbortSignal,
): Promise<{ readonly end: InstallerEnd; readonly denied: readonly Address[] }> {
  const denied = new Map<string, Address>();
  const network = {
    grant: { allow: net, deny: [] },
    onDenied({ host, port }: Address) {
      if (denied.size < MAX_ADDRESSES) denied.set(`${host}:${port}`, { host, port });
    },
  };
  const end = await runInstaller(place, program, { args, folder, read, env, network, signal });
  return { end, denied: [...denied.values()] };
}

function explain(
  which: string,
  { name, explain: explainEnd }: PackageManager,
  end: InstallerEnd,
  folder: string,
  denied: readonly Address[],
): Result<never> {
  const { code, lines, next } = explainEnd(end, folder);
  const said = lines.length === 0 ? `${name} ended with ${end.code}` : lines.slice(0, MAX_LINES).map(cut).join("; ");
  if (denied.length === 0) return fail(code, `${which}: ${said}`, { hint: next });
  const message = `${which}: it wanted ${denied.map(({ host, port }) => `${host}:${port}`).join(", ")}, and ${name}'s settings name other registries; ${said}`;
  return fail("denied", message, { hint: BY_HAND });
}

function cut(line: string): string {
  return line.length > LINE_LIMIT_CHARS ? `${line.slice(0, LINE_LIMIT_CHARS)}…` : line;
}
