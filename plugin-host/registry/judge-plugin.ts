import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { withGranted } from "../install/consent.ts";
import type { FoundPlugin } from "../install/discover.ts";
import type { StoredGrant } from "../install/grant-store.ts";
import type { AdoptedPlugin } from "../manifest/adopted-plugin.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { judgeWants } from "../manifest/wants.ts";
import type { RegistryParts } from "./life-parts.ts";

/** What there is of a plugin before anybody judged it: files in its folder, or what the owner wrote down. */
export type Candidate =
  | FoundPlugin
  | { readonly name: string; readonly folder: string; readonly adopted: AdoptedPlugin };

/** A plugin that may run: its manifest holds, and its grant fits it. */
export type Judged = {
  readonly manifest: PluginManifest;
  readonly grant: StoredGrant;
  readonly granted: Grant;
  /** Everything that the manifest asks for: its own data is no part of the digest, also while it may not write it. */
  readonly wanted: Grant;
  /** What the owner wrote down in place of an installation; undefined for a plugin that was installed. */
  readonly adopted: AdoptedPlugin | undefined;
};

type JudgeParts = Pick<RegistryParts, "grants" | "reserved">;

/** Judges what was found; a failure is why it may not run at all. */
export function judgePlugin(parts: JudgeParts, candidate: Candidate): Result<Judged> {
  return "adopted" in candidate ? judgeAdopted(parts, candidate.adopted) : judgeInstalled(parts, candidate);
}

function judgeInstalled(parts: JudgeParts, { name, folder, read }: FoundPlugin): Result<Judged> {
  if (!read.ok) return read;
  const { manifest, sha256 } = read.value;
  const wanted = judgeWants(manifest, folder, parts.reserved);
  if (!wanted.ok) return wanted;
  const stored = parts.grants.read(name);
  if (!stored.ok) return stored;
  const grant = stored.value;
  if (grant === undefined) {
    return fail("denied", `plugin "${name}" was never granted anything`, {
      hint: `look at it and grant it: claw plugin install ${folder}`,
    });
  }
  if (grant.manifestSha256 !== sha256) return { ok: false, failure: changedManifest(name, folder, manifest, grant) };
  // What a person took back is not asked for.
  const granted = judgeWants(withGranted(manifest, grant), folder, parts.reserved);
  if (!granted.ok) return granted;
  return ok({ manifest, grant, granted: granted.value, wanted: wanted.value, adopted: undefined });
}

/** What the owner wrote down is granted as it stands there. */
function judgeAdopted(parts: JudgeParts, adopted: AdoptedPlugin): Result<Judged> {
  const { manifest, folder, sha256, trusted, enabled, source } = adopted;
  const granted = judgeWants(manifest, folder, parts.reserved, source);
  if (!granted.ok) return granted;
  const grant: StoredGrant = {
    ...{ version: manifest.version, manifestSha256: sha256, filesSha256: sha256 },
    ...{ allow: manifest.wants.map(({ permission }) => permission), withheld: [], heldSha256: "" },
    ...{ trusted, enabled, guards: false, grantedAtMs: 0 },
  };
  return ok({ manifest, grant, granted: granted.value, wanted: granted.value, adopted });
}

function changedManifest(name: string, folder: string, manifest: PluginManifest, grant: StoredGrant): Failure {
  const more = manifest.wants
    .map(({ permission }) => permission)
    .filter((permission) => !grant.allow.includes(permission) && !grant.withheld.includes(permission));
  const asks = more.length === 0 ? "asks for nothing new" : `asks for more: ${more.join(", ")}`;
  return {
    code: "denied",
    message: `plugin "${name}" ${manifest.version} is not what was granted (${grant.version}); it ${asks}`,
    hint: `look at it and grant it: claw plugin install ${folder}`,
  };
}
