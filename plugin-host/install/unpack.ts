import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { type ArchiveEntry, judgeEntryPath } from "./archive-entry.ts";
import { BadArchive } from "./bad-archive.ts";
import { openByteStream } from "./byte-stream.ts";
import { MAX_FILES, MAX_TOTAL_BYTES } from "./folder-digest.ts";
import { readTar } from "./tar-reader.ts";
import { readZip } from "./zip-reader.ts";

export type ArchiveForm = "tar" | "tgz" | "zip";

/** What a tar may hold beside the files' contents: headers and padding. */
const TAR_OVERHEAD_BYTES = 64 * 1024 * 1024;
/** Enough of an archive's head to know every form by: the word "ustar" stands at 257. */
export const SNIFF_BYTES = 512;

/** The form of an archive by its first bytes, whatever it is called; undefined when it is none. */
export function sniffArchive(head: Uint8Array): ArchiveForm | undefined {
  const bytes = Buffer.from(head);
  if (bytes.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) return "tgz";
  const mark = bytes.subarray(0, 4).toString("latin1");
  if (mark === "PK\u0003\u0004" || mark === "PK\u0005\u0006") return "zip";
  return bytes.subarray(257, 262).toString("latin1") === "ustar" ? "tar" : undefined;
}

/**
 * Unpacks an archive into an empty folder: plain files and folders, nothing that leads out of it, at most 10,000 entries
 * and 256 MiB, counted while they come. Runs nothing. `invalid` says what is wrong with it; what was written until then
 * stays, for the caller to remove.
 */
export async function unpackArchive(file: string, form: ArchiveForm, folder: string): Promise<Result<void>> {
  const handle = await open(file, "r").catch((cause: unknown) => String(cause));
  if (typeof handle === "string")
    return fail("unavailable", `${file} cannot be opened: ${handle}`, { hint: "look at its rights" });
  const packed = form === "zip" ? undefined : handle.createReadStream({ autoClose: false });
  const gunzip = form === "tgz" ? createGunzip() : undefined;
  try {
    if (packed === undefined) await writeEntries(readZip(handle), folder);
    else {
      packed.on("error", (cause) => gunzip?.destroy(cause));
      const bytes = (gunzip === undefined ? packed : packed.pipe(gunzip)) as AsyncIterable<Uint8Array>;
      await writeEntries(readTar(openByteStream(bytes, MAX_TOTAL_BYTES + TAR_OVERHEAD_BYTES)), folder);
    }
    return ok(undefined);
  } catch (cause) {
    return sayBroken(file, cause);
  } finally {
    packed?.destroy();
    gunzip?.destroy();
    await handle.close();
  }
}

async function writeEntries(entries: AsyncIterable<ArchiveEntry>, folder: string): Promise<void> {
  const seen = new Map<string, ArchiveEntry["kind"]>();
  const budget = { bytes: MAX_TOTAL_BYTES };
  let count = 0;
  for await (const entry of entries) {
    if (++count > MAX_FILES) throw new BadArchive(`holds more than ${MAX_FILES} entries`);
    const path = judgeEntryPath(entry.path);
    if (path !== "" || entry.kind === "file") claimPath(seen, path, entry.kind);
    if (entry.kind === "folder") await mkdir(join(folder, path), { recursive: true, mode: 0o755 });
    else await writeFile(join(folder, path), entry, budget);
  }
}

/** A path stands for one thing: twice the same file would let the second replace what a reader of the first saw. */
function claimPath(seen: Map<string, ArchiveEntry["kind"]>, path: string, kind: ArchiveEntry["kind"]): void {
  const before = seen.get(path);
  if (path === "" || (before !== undefined && (before === "file" || kind === "file"))) {
    throw new BadArchive(`holds ${JSON.stringify(path)} twice`);
  }
  seen.set(path, kind);
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    if (seen.get(above) === "file") throw new BadArchive(`holds ${JSON.stringify(above)} as a file and as a folder`);
    seen.set(above, "folder");
  }
}

async function writeFile(
  target: string,
  { executable, content }: Extract<ArchiveEntry, { kind: "file" }>,
  budget: { bytes: number },
): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const handle = await open(target, "wx", executable ? 0o755 : 0o644);
  try {
    for await (const chunk of content) {
      budget.bytes -= chunk.byteLength;
      if (budget.bytes < 0) throw new BadArchive(`holds more than ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`);
      // Not by `write`, which may write less than it was given.
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
}

function sayBroken(file: string, cause: unknown): Result<never> {
  if (cause instanceof BadArchive) {
    return fail("invalid", `${file} ${cause.message}`, {
      hint: "pack the plugin's folder anew, plain files only, e.g. tar czf plugin.tgz FOLDER",
      cause,
    });
  }
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code.startsWith("Z_")) {
    return fail("invalid", `${file} is damaged: ${cause instanceof Error ? cause.message : code}`, {
      hint: "fetch it again",
      cause,
    });
  }
  return fail(code === "ENOSPC" ? "exhausted" : "unavailable", `${file} cannot be unpacked: ${String(cause)}`, {
    hint: "look at the free space",
    cause,
  });
}
