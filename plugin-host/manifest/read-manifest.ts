import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { MANIFEST_FILE, type PluginManifest, parseManifest } from "./manifest.ts";

const MAX_MANIFEST_BYTES = 256 * 1024;

/** A manifest and the SHA-256 of its bytes, hex: proof of what the person saw. */
export type ReadManifest = { readonly manifest: PluginManifest; readonly sha256: string };

/** Reads a folder's plugin.json without running anything. Links, devices and more than 256 KiB are `invalid`. */
export function readManifest(folder: string): Result<ReadManifest> {
  const file = join(folder, MANIFEST_FILE);
  const bytes = readSmallFile(file);
  if (!bytes.ok) return bytes;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.value);
  } catch (cause) {
    return fail("invalid", `${file} is not UTF-8 text`, { cause });
  }
  const manifest = parseManifest(text, file);
  if (!manifest.ok) return manifest;
  return ok({ manifest: manifest.value, sha256: createHash("sha256").update(bytes.value).digest("hex") });
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
    if (!info.isFile()) return fail("invalid", `${file} is not a regular file`);
    // One byte more than it should be shows when it grows meanwhile, or is too large.
    const buffer = Buffer.alloc(Math.min(info.size, MAX_MANIFEST_BYTES) + 1);
    let length = 0;
    for (;;) {
      const got = readSync(descriptor, buffer, length, buffer.byteLength - length, null);
      length += got;
      if (got === 0) return ok(buffer.subarray(0, length));
      if (length > MAX_MANIFEST_BYTES)
        return fail("invalid", `${file} is larger than ${MAX_MANIFEST_BYTES / 1024} KiB`);
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
    return fail("not_found", `there is no ${file}`, {
      hint: "name the folder that holds the plugin's plugin.json",
      cause,
    });
  }
  if (code === "ELOOP")
    return fail("invalid", `${file} is a symbolic link`, { hint: "put the file itself there", cause });
  return fail("unavailable", `${file} cannot be read (${String(code)})`, { cause });
}
