import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type FailureCode, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Clock } from "../life/clock.ts";
import { watchDisk } from "../life/disk-watch.ts";
import { type FetchedPackage, inspectFetched, readFetched, writeFetched } from "./fetched-package.ts";
import { findNpm, type NpmEnd, type NpmSurroundings, runNpm } from "./npm-program.ts";
import { NPM_CACHE, type NpmSettings, readNpmSettings } from "./npm-settings.ts";
import type { NpxWords } from "./npx-words.ts";

const FETCH_LIMIT_MS = 5 * 60_000;
/** With what it needs of others, and npm's own copies of all of it. */
const PACKAGE_LIMIT_MIB = 2048;
const PREFIX = "npm-";
/** Lines of npm's that a message takes over. */
const MAX_LINES = 4;
const BY_HAND = "install the server by hand and name its program (docs/mcp.md)";

/** No script of a package runs, nothing is asked, and nothing but the package is looked after. */
const INSTALL = [
  ...["install", "--ignore-scripts=true", "--save-exact=true", "--omit=dev", "--include=optional"],
  ...["--audit=false", "--fund=false", "--update-notifier=false", "--package-lock=true", "--bin-links=true"],
  ...["--global=false", "--dry-run=false", "--offline=false", "--workspaces=false", "--yes=true"],
  ...["--loglevel=error", "--progress=false", "--color=false", "--install-links=true"],
];

export type PackageFetcher = {
  /**
   * Fetches the newest package that fits the words into a server's own folder, in the place of one before, whose folder stays until
   * `tidy`. On failure all is as it was.
   * @param serverFolder absolute
   */
  fetch(serverFolder: string, wanted: NpxWords): Promise<Result<FetchedPackage>>;
  /** Removes what is not in use, or, without words, all packages. */
  tidy(serverFolder: string, wanted: NpxWords | undefined): Promise<void>;
};

/** Fetches packages by the person's own npm, one after the other. */
export function openPackageFetcher(
  around: NpmSurroundings & { readonly clock: Clock },
  homeDir: string,
): PackageFetcher {
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const mine = last.then(task);
    last = mine.catch(() => {});
    return mine;
  }

  async function fetchInto(serverFolder: string, wanted: NpxWords): Promise<Result<FetchedPackage>> {
    const npm = findNpm(around);
    if (npm === undefined)
      return fail("unavailable", "there is no npm on the daemon's search path, and a package is fetched by it", {
        hint: `install npm, or ${BY_HAND}`,
      });
    await mkdir(serverFolder, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(serverFolder, PREFIX));
    const kept = await install(npm, serverFolder, folder, wanted).catch((cause: unknown) =>
      fail("unavailable", `npm could not be run for ${wanted.packages.join(", ")}: ${String(cause)}`, {
        hint: BY_HAND,
        cause,
      }),
    );
    if (!kept.ok || kept.value.folder !== basename(folder)) await rm(folder, { recursive: true, force: true });
    return kept;
  }

  async function install(npm: string, serverFolder: string, folder: string, wanted: NpxWords) {
    const signal = AbortSignal.timeout(FETCH_LIMIT_MS);
    const settings = await readNpmSettings(around, homeDir, npm, folder, signal);
    if (!settings.ok) return settings;
    await writeFile(join(folder, "package.json"), '{ "private": true }\n');
    const end = await installBy(around, npm, folder, settings.value, wanted, signal);
    if (!end.ok) return end;
    await rm(join(folder, NPM_CACHE), { recursive: true, force: true });
    const found = inspectFetched(serverFolder, basename(folder), wanted);
    if (!found.ok) return found;
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

async function installBy(
  around: NpmSurroundings & { readonly clock: Clock },
  npm: string,
  folder: string,
  settings: NpmSettings,
  wanted: NpxWords,
  timeout: AbortSignal,
): Promise<Result<void>> {
  const denied = new Set<string>();
  const full = new AbortController();
  const signal = AbortSignal.any([timeout, full.signal]);
  const args = [...INSTALL, ...settings.args, `--prefix=${folder}`];
  const network = {
    grant: { allow: settings.net, deny: [] },
    onDenied: ({ host, port }: { readonly host: string; readonly port: number }) => void denied.add(`${host}:${port}`),
  };
  const { env, read } = settings;
  const share = { folders: [folder], limitMib: PACKAGE_LIMIT_MIB };
  const endWatch = watchDisk(share, around.clock, (because) => full.abort(because));
  try {
    const run = { args: [...args, "--", ...wanted.packages], folder, read, env, network, signal };
    const end = await runNpm(around, npm, run);
    if (end.code === 0 && !signal.aborted) return ok(undefined);
    const which = `the package ${wanted.packages.join(", ")} could not be fetched`;
    if (full.signal.aborted) return fail("exhausted", `${which}: ${String(full.signal.reason)}`, { hint: BY_HAND });
    if (timeout.aborted)
      return fail("timed_out", `${which} within ${FETCH_LIMIT_MS / 60_000} minutes`, { hint: "try again" });
    return explain(which, end, [...denied]);
  } finally {
    endWatch();
  }
}

const MEANINGS: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/E404|ETARGET|EINVALIDTAGNAME|ENOVERSIONS/, "not_found", "look at its name and version"],
  [/E401|E403|ENEEDAUTH/, "denied", "log in at your registry: npm login"],
  [/ENOSPC/, "exhausted", "make room on the disk"],
  [/EBADENGINE/, "invalid", "take another version of it"],
];

function explain(which: string, { code, stderr }: NpmEnd, denied: readonly string[]): Result<never> {
  const lines = stderr
    .split("\n")
    .flatMap((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1]?.trim() ?? [])
    .filter((line) => !/^\d*$/.test(line) && !/^(?:A complete log|\/|Note that you can)/.test(line));
  const said = lines.length === 0 ? `npm ended with ${code}` : lines.slice(0, MAX_LINES).join("; ");
  const [, meaning = "unavailable", next = "look at your connection: npm ping"] =
    MEANINGS.find(([pattern]) => pattern.test(lines[0] ?? "")) ?? [];
  if (denied.length === 0) return fail(meaning, `${which}: ${said}`, { hint: next });
  const message = `${which}: it wanted ${denied.join(", ")}, and npm's settings name other registries; ${said}`;
  return fail("denied", message, { hint: BY_HAND });
}
