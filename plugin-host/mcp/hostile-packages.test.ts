import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openEgress } from "../../sandbox/egress/egress.ts";
import { forwarderPlace } from "../../sandbox/egress/fixtures/forwarder-file.ts";
import { closeInheritedDescriptors } from "../../sandbox/os/inherited-descriptors.ts";
import { probeLauncher } from "../../sandbox/os/probe.ts";
import { shareOf, THOROUGH } from "../../tests/kit/thoroughness.ts";
import { machineClock } from "../life/clock.ts";
import { openPackageFetcher, type PackageFetcher } from "./package-fetcher.ts";
import type { PackageWords } from "./package-words.ts";

/** npm takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });
closeInheritedDescriptors();

const SEARCH_PATH = process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
const { folder: root, forwarderFile } = forwarderPlace();
const egress = openEgress({ ownAddresses: () => [], resolve: async () => [] });
const launcher = await probeLauncher({
  ...{ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary: process.execPath },
  door: { egress, forwarderFile, socketsDir: join(root, "run") },
});
const noNpm = (() => {
  try {
    execFileSync("npm", ["--version"], { stdio: "ignore" });
    return launcher.level === "none" ? `no sandbox: ${launcher.detail}` : "";
  } catch {
    return "no npm here, by which packages are fetched";
  }
})();
if (noNpm !== "") console.log(`skipped: ${noNpm}`);

/** What the registry says of a package; `%` stands for its own address in the texts of it. */
type Hostile = {
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly integrity?: string;
  readonly tarball?: string;
};

const LONGEST_FAILURE_CHARS = 4_000;
const PROGRAM = { "server.mjs": "" };
let work: string;
let registry: Server;
/** A server on the same machine that nobody may reach by the way of a package. */
let canary: Server;
const visits: string[] = [];

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const packages: Readonly<Record<string, () => Hostile>> = {
  honest: () => ({ files: PROGRAM }),
  scripted: () => ({
    manifest: {
      ...{ bin: "server.mjs", gypfile: true },
      scripts: Object.fromEntries(
        ["preinstall", "install", "postinstall", "prepare", "prepublish"].map((when) => [when, `touch $INIT_CWD/ran`]),
      ),
    },
    files: {
      ...PROGRAM,
      "binding.gyp": '{ "targets": [{ "target_name": "x", "actions": ["<!(touch ran)"] }] }',
      ".npmrc": `ignore-scripts=false\nregistry=http://127.0.0.1:${portOf(canary)}/\n`,
    },
  }),
  redirected: () => ({ tarball: "%redirect" }),
  elsewhere: () => ({ tarball: `http://127.0.0.1:${portOf(canary)}/it.tgz` }),
  liar: () => ({ files: PROGRAM, integrity: `sha512-${createHash("sha512").update("other").digest("base64")}` }),
  "of-git": () => ({
    manifest: { dependencies: { d: `git+http://127.0.0.1:${portOf(canary)}/it.git` } },
    files: PROGRAM,
  }),
  "of-address": () => ({ manifest: { dependencies: { d: `http://127.0.0.1:${portOf(canary)}/d.tgz` } } }),
  "of-file": () => ({ manifest: { dependencies: { d: `file:${join(work, "secret")}` } }, files: PROGRAM }),
  linked: () => ({ manifest: { bin: "server.mjs" }, links: { "server.mjs": join(work, "secret", "index.js") } }),
  folder: () => ({ manifest: { bin: { folder: "lib" } }, files: { "lib/x": "" } }),
};

const tarballs = new Map<string, Buffer>();

/** Made once: another would have other times in it. */
function tarballOf(name: string, hostile: Hostile): Buffer {
  const made = tarballs.get(name) ?? makeTarball(name, hostile);
  tarballs.set(name, made);
  return made;
}

function makeTarball(name: string, { manifest = {}, files = {}, links = {} }: Hostile): Buffer {
  const stage = mkdtempSync(join(work, "stage-"));
  const home = join(stage, "package");
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), JSON.stringify({ name, version: "1.0.0", bin: "server.mjs", ...manifest }));
  for (const [at, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, at)), { recursive: true });
    writeFileSync(join(home, at), text);
  }
  for (const [at, to] of Object.entries(links)) symlinkSync(to, join(home, at));
  return execFileSync("tar", ["-cz", "-C", stage, "package"]);
}

function answer(url: string, response: ServerResponse): void {
  const [name = "", kind] = url.slice(1).split("/");
  if (name === "redirect") {
    response.writeHead(302, { location: `http://127.0.0.1:${portOf(canary)}/it.tgz` }).end();
    return;
  }
  const hostile = packages[name]?.();
  if (hostile === undefined) {
    response.writeHead(404).end(`{"error":"not found ${"x".repeat(100_000)}"}`);
    return;
  }
  const bytes = tarballOf(name, hostile);
  if (kind !== undefined) {
    response.end(bytes);
    return;
  }
  const own = `http://127.0.0.1:${portOf(registry)}/`;
  const dist = {
    tarball: (hostile.tarball ?? `%${name}/it.tgz`).replace("%", own),
    integrity: hostile.integrity ?? `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
  };
  const one = { name, version: "1.0.0", bin: "server.mjs", ...hostile.manifest, dist };
  response.end(JSON.stringify({ name, versions: { "1.0.0": one }, "dist-tags": { latest: "1.0.0" } }));
}

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "hostile-packages-"));
  mkdirSync(join(work, "secret"));
  writeFileSync(join(work, "secret", "package.json"), '{ "name": "d", "version": "1.0.0" }');
  writeFileSync(join(work, "secret", "index.js"), "secret");
  registry = createServer((request, response) => answer(request.url ?? "/", response));
  canary = createServer((request, response) => {
    visits.push(request.url ?? "");
    response.end("{}");
  });
  for (const server of [registry, canary]) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  writeFileSync(join(work, ".npmrc"), `registry=http://127.0.0.1:${portOf(registry)}/\nignore-scripts=false\n`);
});
afterAll(async () => {
  for (const server of [registry, canary]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await egress.close();
  rmSync(work, { recursive: true, force: true });
});

function open(): PackageFetcher {
  const env = { PATH: SEARCH_PATH };
  const clock = machineClock(Date.now);
  return openPackageFetcher({ launcher, nodeBinary: process.execPath, env, homeDir: work, clock });
}

function wordsOf(...packages: readonly string[]): PackageWords {
  return { kind: "npm", packages, program: undefined, args: [] };
}

/** In a folder of its own, by a fetcher of its own: they need not wait for each other. */
async function fetch(...names: readonly [string, ...string[]]) {
  const folder = join(work, `server-${names[0]}`);
  const fetched = await open().fetch(folder, wordsOf(...names));
  return { folder, fetched, left: readdirSync(folder).filter((one) => one.startsWith("fetched-")) };
}

test.skipIf(noNpm !== "")(
  "no script of a package runs, no settings in it count, and only its files are programs",
  async () => {
    const { folder, fetched } = await fetch("scripted", "linked", "folder");
    expect(fetched).toMatchObject({ ok: true, value: { name: "scripted", skippedScripts: ["scripted"] } });
    const paths = readdirSync(folder, { recursive: true }).map(String);
    expect(paths.filter((path) => /(?:^|\/)ran$/.test(path))).toEqual([]);
    expect(paths.filter((path) => path.endsWith("linked/server.mjs"))).toEqual([]);
  },
);

const refused = ["redirected", "elsewhere", "of-git", "of-address", "of-file", "liar", "missing"];

test.skipIf(noNpm !== "").each(shareOf("packages that are not to be fetched", refused, { oneIn: refused.length }))(
  "what no registry of the person's serves is not fetched, whoever says so: %s",
  async (name) => {
    const { fetched, left } = await fetch(name);
    if (fetched.ok) throw new Error("it was fetched");
    expect(JSON.stringify(fetched.failure).length).toBeLessThan(LONGEST_FAILURE_CHARS);
    expect(left).toEqual([]);
    expect(visits).toEqual([]);
  },
);

test.skipIf(noNpm !== "" || !THOROUGH)(
  "two fetches of one server leave one package, and what a killed one left is tidied",
  async () => {
    const folder = join(work, "twice");
    mkdirSync(join(folder, "fetched-killed", "node_modules"), { recursive: true });
    const fetcher = open();
    const wanted = wordsOf("honest");
    const [one, two] = await Promise.all([fetcher.fetch(folder, wanted), fetcher.fetch(folder, wanted)]);
    expect(one).toEqual(two);
    await fetcher.tidy(folder, wanted);
    const left = readdirSync(folder);
    expect(left).toHaveLength(2);
    expect(JSON.parse(readFileSync(join(folder, "fetched.json"), "utf8")).folder).toBe(
      left.find((one) => one !== "fetched.json"),
    );
    expect(existsSync(join(folder, "fetched-killed"))).toBe(false);
  },
);
