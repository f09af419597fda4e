import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import type { FarOffer } from "./far-agent.ts";
import { FAR_COMMAND, farDigest } from "./far-command.ts";
import { readOwnFile, writeOwnFile } from "./own-file.ts";
import { fieldOf, textOf } from "./wire.ts";

/**
 * Keeps what an agent brings as a plugin's folder, to be looked at and installed like any other. It holds the manifest
 * alone; in place of the program it has the digest of the files, so that a grant of it is a grant of those files. The value
 * is the folder's path.
 */
export async function keepOffer(
  dir: string,
  name: string,
  { manifest, filesSha256 }: FarOffer,
): Promise<Result<string>> {
  if (typeof manifest !== "object" || manifest === null || textOf(manifest, "name") !== name) {
    return fail("invalid", `the agent of "${name}" brings a plugin of another name`, {
      hint: "enrol each plugin by its own name",
    });
  }
  if (farDigest([FAR_COMMAND, filesSha256]) === undefined)
    return fail("invalid", `the agent of "${name}" says no digest of its files`);
  const launch = fieldOf(manifest, "launch");
  // How it is started is the agent's business, and whether its variables would be taken here says nothing.
  const ours = { command: [FAR_COMMAND, filesSha256], platforms: undefined, env: undefined };
  const told = { ...manifest, launch: { ...(typeof launch === "object" ? launch : {}), ...ours } };
  const text = `${JSON.stringify(told, null, 2)}\n`;
  const folder = offerFolder(dir, name);
  const file = join(folder, MANIFEST_FILE);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await readOwnFile(file)) !== text) await writeOwnFile(file, text);
    return ok(folder);
  } catch (cause) {
    return fail("unavailable", `what "${name}" brings cannot be kept in ${folder}: ${String(cause)}`, {
      hint: "look at the free space and at the rights of that folder",
      cause,
    });
  }
}

/** Where what an agent brought waits; it need not be there. */
export function offerFolder(dir: string, name: string): string {
  return join(dir, "offers", name);
}

export async function dropOffer(dir: string, name: string): Promise<void> {
  await removeTree(offerFolder(dir, name));
}
