import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, open, readdir, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { TOML_MANIFEST_FILE } from "../manifest/plugin-toml.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { MAX_TOTAL_BYTES } from "./folder-digest.ts";
import { LEGACY_PROGRAM } from "./legacy-probe.ts";
import { SNIFF_BYTES, sniffArchive, unpackArchive } from "./unpack.ts";

/** No plugin's name holds a "_", so that this is nobody's half-made copy. Removed by `recoverInstalls` after a crash. */
const UNPACKED = ".new-_unpacked";
const MANIFEST_FILES = [MANIFEST_FILE, TOML_MANIFEST_FILE];

export type SourceParts = {
  readonly pluginsDir: string;
  /** Asks an executable for its manifest, in an empty sandbox. */
  readonly probe: (file: string) => Promise<Result<{ readonly manifestJson: JsonObject }>>;
};

/** Where a plugin comes from, as a folder; to be closed. */
export type PluginSource = {
  readonly folder: string;
  /** The same words about what the person named, who never saw the folder. */
  say(failure: Failure): Failure;
  close(): Promise<void>;
};

/**
 * Opens a plugin's folder, an archive of one (.tgz, .tar, .zip, by its content, whatever it is called), or an executable
 * that speaks JSON-RPC. Only one that is no folder may be open at a time. Nothing is run but such an executable.
 */
export async function openSource(parts: SourceParts, path: string): Promise<Result<PluginSource>> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) {
    return fail("not_found", `there is no ${path}`, { hint: "name a folder, an archive or an executable" });
  }
  if (info.isDirectory()) {
    return ok({ folder: path, say: (failure) => failure, close: async () => {} });
  }
  if (!info.isFile()) {
    return fail("invalid", `${path} is neither a file nor a folder`, {
      hint: "name a folder, an archive or an executable",
    });
  }
  if (info.size > MAX_TOTAL_BYTES) {
    return fail("exhausted", `${path} is larger than ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`, {
      hint: "bundle the plugin into one file, and leave out what it does not need",
    });
  }
  const folder = join(parts.pluginsDir, UNPACKED);
  // What resists is removed before the next one, or at the next start.
  const close = () => removeTree(folder).catch(() => {});
  let filled: Result<string>;
  try {
    await removeTree(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    filled = await fill(parts, await realpath(path), folder, (info.mode & 0o100) !== 0);
  } catch (cause) {
    filled = fail("unavailable", `${path} cannot be read: ${String(cause)}`, { hint: "look at its rights", cause });
  }
  const say = (failure: Failure): Failure => {
    const at = filled.ok ? filled.value : folder;
    return { ...failure, message: failure.message.replaceAll(at, path).replaceAll(folder, path) };
  };
  if (filled.ok) return ok({ folder: filled.value, say, close });
  await close();
  return { ok: false, failure: say(filled.failure) };
}

async function fill(parts: SourceParts, file: string, folder: string, executable: boolean): Promise<Result<string>> {
  const form = sniffArchive(await readHead(file));
  if (form !== undefined) {
    const unpacked = await unpackArchive(file, form, folder);
    return unpacked.ok ? ok(await findTop(folder)) : unpacked;
  }
  if (!executable) {
    return fail("invalid", `${file} is neither an archive (.tgz, .tar, .zip) nor an executable`, {
      hint: `pack the plugin's folder: tar czf plugin.tgz FOLDER; or make it executable: chmod u+x ${file}`,
    });
  }
  // A copy is asked and installed: the file itself may change meanwhile.
  const program = join(folder, LEGACY_PROGRAM);
  await copyFile(file, program, constants.COPYFILE_EXCL);
  await chmod(program, 0o755);
  const probed = await parts.probe(program);
  if (!probed.ok) return probed;
  await writeFile(join(folder, MANIFEST_FILE), `${JSON.stringify(probed.value.manifestJson, null, 2)}\n`);
  return ok(folder);
}

/** Most archives hold the folder, not its content. */
async function findTop(folder: string): Promise<string> {
  const names = await readdir(folder);
  const [only] = names;
  if (names.length !== 1 || only === undefined || MANIFEST_FILES.includes(only)) return folder;
  const inside = join(folder, only);
  return (await lstat(inside)).isDirectory() ? inside : folder;
}

async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
