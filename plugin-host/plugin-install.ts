import { join } from "node:path";
import type { PluginOffer } from "../core/domain/admin.ts";
import { fail, ok, type Result } from "../core/domain/failure.ts";
import { PluginChange } from "../proto/gen/clawd/v1/event_pb.ts";
import { type AdminParts, renew, writeGrant } from "./admin-parts.ts";
import { type AskedChange, asksForMore, type Before, compareAsked } from "./install/consent.ts";
import type { StoredGrant } from "./install/grant-store.ts";
import {
  dropHeld,
  dropReplaced,
  holdStaged,
  placeStaged,
  type StagedPlugin,
  stagePlugin,
  undoPlace,
} from "./install/install.ts";
import { probeLegacy } from "./install/legacy-probe.ts";
import { openSource, type PluginSource } from "./install/plugin-source.ts";
import type { PluginManifest } from "./manifest/manifest.ts";
import { describeOffers } from "./manifest/offers.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import { removeTree } from "./manifest/remove-tree.ts";
import { explainWants, judgeWants } from "./manifest/wants.ts";
import { missingDependencies } from "./plugin-rows.ts";

export type InstallRequest = {
  /** Absolute path of a folder, an archive or an executable. */
  readonly path: string;
  readonly trust: boolean;
  /** SHA-256 of the manifest that a person saw; "" takes any. */
  readonly seenSha256: string;
};

/** Shows what a plugin is and asks for; changes nothing. */
export function lookAt(parts: AdminParts, path: string, trust: boolean): Promise<Result<PluginOffer>> {
  return withSource(parts, path, trust, async (source) => lookInto(parts, source));
}

/** Installs a plugin with everything that it asks for granted. */
export function installPlugin(parts: AdminParts, request: InstallRequest): Promise<Result<PluginOffer>> {
  return stageFrom(parts, request, async (staged, offer) => {
    const before = findBefore(parts, staged.manifest.name);
    const allow = staged.manifest.wants.map(({ permission }) => permission);
    const trusted = request.trust || (before?.grant.trusted ?? false);
    const enabled = before?.grant.enabled ?? true;
    const grant = { ...grantOf(staged, parts.now()), allow, trusted, enabled };
    const placed = await place(parts, staged, grant);
    return placed.ok ? ok({ ...offer, installed: true }) : placed;
  });
}

/**
 * Puts an upgrade into place when it asks for nothing that a person did not decide about; keeps one that asks for more
 * aside until it is granted, while the old version runs on.
 */
export function upgradePlugin(parts: AdminParts, request: InstallRequest): Promise<Result<PluginOffer>> {
  return stageFrom(parts, request, async (staged, offer) => {
    const { manifest } = staged;
    const before = findBefore(parts, manifest.name);
    if (before === undefined) {
      await removeTree(staged.staging);
      return fail("denied", `nobody granted plugin "${manifest.name}" anything yet`, {
        hint: `claw plugin install ${request.path} --yes grants what it asks for`,
      });
    }
    if (asksForMore(compareAsked(manifest, before))) {
      const held = await hold(parts, staged, before.grant);
      return held.ok ? ok({ ...offer, held: true }) : held;
    }
    const { allow, withheld, trusted, enabled } = before.grant;
    const asked = (one: string) => manifest.wants.some(({ permission }) => permission === one);
    const kept = { allow: allow.filter(asked), withheld: withheld.filter(asked), trusted, enabled };
    const placed = await place(parts, staged, { ...grantOf(staged, parts.now()), ...kept });
    return placed.ok ? ok({ ...offer, installed: true }) : placed;
  });
}

/**
 * Puts a staged plugin into its place with its grant, while calls of the old version go on to their end. When the old one
 * runs and the new one does not come to run, the old one stays, with its files and its grant.
 */
export async function place(parts: AdminParts, staged: StagedPlugin, grant: StoredGrant): Promise<Result<void>> {
  const { name } = staged.manifest;
  const { pluginsDir } = parts.place;
  const before = findBefore(parts, name)?.grant;
  const placed = await placeStaged(staged);
  const written = placed.ok ? await writeGrant(parts, name, PluginChange.INSTALLED, grant) : placed;
  if (!written.ok) {
    // Without its grant the new version may not run; the old one still may.
    if (placed.ok && before !== undefined) return putBack(parts, staged, before, written);
    await parts.registry.refresh(name, "its install failed");
    return written;
  }
  const renewed = await renew(parts, name, "it was installed", grant);
  const live = parts.registry.find(name)?.live;
  const supervisor = live?.ok === true ? live.value.supervisor : undefined;
  if (!renewed.ok && before !== undefined && supervisor?.state().is === "ready") {
    return putBack(parts, staged, before, renewed);
  }
  // It is installed; what cannot be removed now is removed at the next install or the next start.
  const dropOld = () => dropReplaced(pluginsDir, name).catch(() => {});
  // Nobody waits for the old process.
  if (supervisor === undefined) await dropOld();
  else void supervisor.alone().then(() => parts.inTurn(dropOld));
  await dropHeld(pluginsDir, name).catch(() => {});
  return renewed;
}

async function putBack(
  parts: AdminParts,
  staged: StagedPlugin,
  before: StoredGrant,
  failed: Result<void>,
): Promise<Result<void>> {
  const { name } = staged.manifest;
  const undone = await undoPlace(staged);
  if (!undone.ok) return undone;
  // What waited may be what failed.
  await dropHeld(parts.place.pluginsDir, name);
  const written = await writeGrant(parts, name, PluginChange.INSTALLED, { ...before, heldSha256: "" });
  return written.ok ? failed : written;
}

async function hold(parts: AdminParts, staged: StagedPlugin, grant: StoredGrant): Promise<Result<void>> {
  const held = await holdStaged(staged);
  if (!held.ok) return held;
  return writeGrant(parts, staged.manifest.name, PluginChange.HELD, { ...grant, heldSha256: staged.filesSha256 });
}

export function grantOf({ manifest, manifestSha256, filesSha256 }: StagedPlugin, grantedAtMs: number): StoredGrant {
  const asked = { allow: [], withheld: [], heldSha256: "" };
  const guards = manifest.hooks.some(({ at, onError }) => at === "tool.before" && onError !== "allow");
  const { version } = manifest;
  return { version, manifestSha256, filesSha256, ...asked, trusted: false, enabled: true, guards, grantedAtMs };
}

/** What stands in the plugin's place and was granted; undefined when nothing was. */
export function findBefore({ registry, grants }: AdminParts, name: string): Before | undefined {
  const entry = registry.find(name);
  const grant = grants.read(name);
  if (entry === undefined || !grant.ok || grant.value === undefined) return undefined;
  const read = readManifest(entry.folder);
  const unchanged = read.ok && read.value.sha256 === grant.value.manifestSha256;
  return { grant: grant.value, manifest: unchanged ? read.value.manifest : undefined };
}

async function withSource<T>(
  parts: AdminParts,
  path: string,
  trusted: boolean,
  work: (source: PluginSource) => Promise<Result<T>>,
): Promise<Result<T>> {
  const {
    launcher,
    place: { pluginsDir },
  } = parts;
  const opened = await openSource({ pluginsDir, probe: (file) => probeLegacy(file, { launcher, trusted }) }, path);
  if (!opened.ok) return opened;
  const source = opened.value;
  try {
    const done = await work(source);
    return done.ok ? done : { ok: false, failure: source.say(done.failure) };
  } finally {
    await source.close();
  }
}

function stageFrom(
  parts: AdminParts,
  { path, trust, seenSha256 }: InstallRequest,
  work: (staged: StagedPlugin, offer: PluginOffer) => Promise<Result<PluginOffer>>,
): Promise<Result<PluginOffer>> {
  return withSource(parts, path, trust, async (source) => {
    const offer = lookInto(parts, source);
    if (!offer.ok) return offer;
    const staged = await stagePlugin(parts.place, offer.value.name ?? "", source.folder);
    if (!staged.ok) return staged;
    if (seenSha256 === "" || staged.value.authoredSha256 === seenSha256) return work(staged.value, offer.value);
    await removeTree(staged.value.staging);
    return fail("conflict", `the plugin in ${path} is not the one that was shown: it changed meanwhile`, {
      hint: "look at it again",
    });
  });
}

function lookInto(parts: AdminParts, { folder }: PluginSource): Result<PluginOffer> {
  const read = readManifest(folder);
  if (!read.ok) return read;
  const { manifest, sha256, file } = read.value;
  const granted = judgeWants(manifest, join(parts.place.pluginsDir, manifest.name), parts.place.reserved, file);
  if (!granted.ok) return granted;
  const before = findBefore(parts, manifest.name);
  const change = before === undefined ? undefined : compareAsked(manifest, before);
  const isNew = ({ permission }: { permission: string }) => change?.permissions.includes(permission) ?? true;
  return ok({
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    author: manifest.author,
    wants: explainWants(manifest).map((want) => ({ ...want, grantedBefore: !isNew(want) })),
    tools: manifest.tools.map(({ fullName }) => fullName),
    offers: describeOffers(manifest),
    installed: parts.registry.find(manifest.name)?.live.ok ?? false,
    replaces: before?.grant.version ?? "",
    notes: [...noteOf(parts, manifest, before, change)],
    noLonger: [...(change?.noLonger ?? [])],
    manifestSha256: sha256,
  });
}

function noteOf(
  { registry }: AdminParts,
  manifest: PluginManifest,
  before: Before | undefined,
  change: AskedChange | undefined,
): readonly string[] {
  const withheld = manifest.wants.filter(({ permission }) => before?.grant.withheld.includes(permission) === true);
  return [
    ...manifest.warnings,
    ...missingDependencies(manifest.dependencies, registry).map(
      (name) => `it needs the plugin "${name}", which is not installed and on: until then it does not run`,
    ),
    ...(change?.roles ?? []).map((role) => `new: it takes part in conversations as "${role}"`),
    ...(change?.otherwise ?? []),
    ...(before?.grant.enabled === false
      ? [`it is turned off, and stays so: claw plugin enable ${manifest.name} turns it on`]
      : []),
    ...withheld.map(({ permission }) => `${permission} was taken back from it; a yes gives it again`),
  ];
}
