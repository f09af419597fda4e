import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { checkEntryPoint } from "./entry-point.ts";
import {
  MANIFEST_FILE,
  type ManifestHost,
  type PluginManifest,
  parseManifest,
  parseTomlManifest,
  THIS_HOST,
} from "./manifest.ts";
import { TOML_MANIFEST_FILE } from "./plugin-toml.ts";

const MAX_MANIFEST_BYTES = 256 * 1024;

export type ReadManifest = {
  readonly manifest: PluginManifest;
  /** SHA-256 of the file's bytes, hex: proof of what the person saw. */
  readonly sha256: string;
  /** Absolute path of plugin.json or plugin.toml. */
  readonly file: string;
  /** The manifest as ProtoJSON, whatever it was written in. */
  readonly json: JsonObject;
};

/**
 * Reads a folder's plugin.json, or its plugin.toml, without running anything. Links, devices, more than 256 KiB, both
 * files at once and an entry point that is not there are `invalid`.
 */
export function readManifest(folder: string, host: ManifestHost = THIS_HOST): Result<ReadManifest> {
  const file = findManifest(folder);
  if (!file.ok) return file;
  const bytes = readSmallFile(file.value);
  if (!bytes.ok) return bytes;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.value);
  } catch (cause) {
    return fail("invalid", `${file.value} is not UTF-8 text`, { hint: "save it as UTF-8", cause });
  }
  const parsed = file.value.endsWith(".toml")
    ? parseTomlManifest(text, file.value, host)
    : parseJson(text, file.value, host);
  if (!parsed.ok) return parsed;
  const entry = checkEntryPoint(parsed.value.manifest.command, folder, file.value);
  if (!entry.ok) return entry;
  return ok({ ...parsed.value, sha256: createHash("sha256").update(bytes.value).digest("hex"), file: file.value });
}

function parseJson(text: string, file: string, host: ManifestHost): ReturnType<typeof parseTomlManifest> {
  const manifest = parseManifest(text, file, host);
  return manifest.ok ? ok({ manifest: manifest.value, json: JSON.parse(text) as JsonObject }) : manifest;
}

/** Also what is no regular file counts as there, so that it is named. */
function findManifest(folder: string): Result<string> {
  const file = join(folder, MANIFEST_FILE);
  const toml = join(folder, TOML_MANIFEST_FILE);
  if (!isThere(toml)) return ok(file);
  if (!isThere(file)) return ok(toml);
  return fail("invalid", `${folder} holds both ${MANIFEST_FILE} and ${TOML_MANIFEST_FILE}`, {
    hint: "remove one of the two",
  });
}

function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A folder that cannot be looked into: opening says why.
    return false;
  }
}

function readSmallFile(file: string): Result<Uint8Array> {
  let descriptor: number;
  try {
    // O_NONBLOCK: opening a FIFO must not wait for its writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    return openFailure(file, cause);
  }
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile()) return fail("invalid", `${file} is not a regular file`, { hint: "put the file itself there" });
    // One byte more than it should be shows when it grows meanwhile, or is too large.
    const buffer = Buffer.alloc(Math.min(info.size, MAX_MANIFEST_BYTES) + 1);
    let length = 0;
    for (;;) {
      const got = readSync(descriptor, buffer, length, buffer.byteLength - length, null);
      length += got;
      if (got === 0) return ok(buffer.subarray(0, length));
      if (length > MAX_MANIFEST_BYTES)
        return fail("invalid", `${file} is larger than ${MAX_MANIFEST_BYTES / 1024} KiB`, { hint: "shorten it" });
    }
  } catch (cause) {
    return openFailure(file, cause);
  } finally {
    closeSync(descriptor);
  }
}

function openFailure(file: string, cause: unknown): Result<never> {
  const code = cause instanceof Error && "code" in cause ? cause.code : "";
  if (code === "ENOENT" || code === "ENOTDIR") {
    // As the skeletons in Go and Rust have it: the program and its manifest apart from the sources.
    const inside = join(dirname(file), "plugin");
    const hint = existsSync(join(inside, "plugin.json"))
      ? `it lies in ${inside}: name that folder`
      : "name the folder that holds the plugin's plugin.json or plugin.toml";
    return fail("not_found", `there is no ${file}`, { hint, cause });
  }
  if (code === "ELOOP")
    return fail("invalid", `${file} is a symbolic link`, { hint: "put the file itself there", cause });
  return fail("unavailable", `${file} cannot be read (${String(code)})`, { hint: "look at its rights", cause });
}
