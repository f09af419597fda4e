import { constants, readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";

const GRANT_VERSION = 1;

/** What a person granted to a plugin, tied to the exact bytes that they saw. */
export type StoredGrant = {
  readonly version: string;
  /** SHA-256 of plugin.json, hex. */
  readonly manifestSha256: string;
  /** SHA-256 over all files, hex; see folder-digest.ts. */
  readonly filesSha256: string;
  /** In the permission language, relative to the plugin's folder. */
  readonly allow: readonly string[];
  /** What its manifest asks for and a person took back: withheld also from its upgrades, until it is granted again. */
  readonly withheld: readonly string[];
  /** SHA-256 over the files of the upgrade that waits for a grant, hex; empty when none does. */
  readonly heldSha256: string;
  /** It may run without an operating-system sandbox where the machine has none. */
  readonly trusted: boolean;
  readonly enabled: boolean;
  /** A hook of its was to stop calls when it fails: they stay stopped when its manifest cannot be read any more. */
  readonly guards: boolean;
  readonly grantedAtMs: number;
};

/** Grants are files of their own, outside every plugin's reach. */
export type GrantStore = {
  /** Undefined when nothing was granted; a file that cannot be understood is `corrupt`. */
  read(plugin: string): Result<StoredGrant | undefined>;
  /** Durable when it resolves. */
  write(plugin: string, grant: StoredGrant): Promise<Result<void>>;
  remove(plugin: string): Promise<void>;
};

export function openGrantStore(grantsDir: string): GrantStore {
  const fileOf = (plugin: string) => join(grantsDir, `${plugin}.json`);
  return {
    read: (plugin) => {
      const file = fileOf(plugin);
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return ok(undefined);
        return fail("unavailable", `the grant in ${file} cannot be read`, { hint: "look at its rights", cause });
      }
      return parseGrant(text, file);
    },
    write: async (plugin, grant) => {
      const file = fileOf(plugin);
      const fresh = `${file}.new`;
      try {
        await mkdir(grantsDir, { recursive: true, mode: 0o700 });
        const handle = await open(fresh, "w", 0o600);
        try {
          await handle.writeFile(`${JSON.stringify({ grantVersion: GRANT_VERSION, ...grant }, null, 2)}\n`);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(fresh, file);
        await syncFolder(grantsDir);
        return ok(undefined);
      } catch (cause) {
        const full = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
        return fail(
          full ? "exhausted" : "unavailable",
          `the grant of plugin "${plugin}" cannot be written to ${file}`,
          { hint: "look at the free space and at the rights of its folder", cause },
        );
      }
    },
    remove: async (plugin) => {
      await rm(fileOf(plugin), { force: true });
    },
  };
}

/** A rename is durable when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parseGrant(text: string, file: string): Result<StoredGrant> {
  const hint = "install the plugin again to grant it anew";
  let json: Record<string, unknown>;
  try {
    // `null` is JSON too, and has no fields to look at.
    json = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch (cause) {
    return fail("corrupt", `the grant in ${file} is not JSON`, { hint, cause });
  }
  const { version, manifestSha256, filesSha256, allow, trusted, enabled, grantedAtMs } = json;
  // Grants of the first release took nothing back, held nothing and guarded nothing.
  const { withheld = [], heldSha256 = "", guards = false } = json;
  if (
    json.grantVersion === GRANT_VERSION &&
    typeof version === "string" &&
    typeof manifestSha256 === "string" &&
    typeof filesSha256 === "string" &&
    isTexts(allow) &&
    isTexts(withheld) &&
    typeof heldSha256 === "string" &&
    typeof trusted === "boolean" &&
    typeof enabled === "boolean" &&
    typeof guards === "boolean" &&
    typeof grantedAtMs === "number"
  ) {
    const what = { version, manifestSha256, filesSha256, allow, withheld, heldSha256 };
    return ok({ ...what, trusted, enabled, guards, grantedAtMs });
  }
  return fail("corrupt", `the grant in ${file} is not of the expected form`, { hint });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
