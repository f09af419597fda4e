import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { type ArchiveEntry, readText } from "./archive-entry.ts";
import { BadArchive } from "./bad-archive.ts";

const END_MARK = 0x06054b50;
const DIRECTORY_MARK = 0x02014b50;
const LOCAL_MARK = 0x04034b50;
const END_BYTES = 22;
const DIRECTORY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
const CHUNK_BYTES = 64 * 1024;
const MAX_DIRECTORY_BYTES = 8 * 1024 * 1024;
/** Flag bits: encrypted, patched, strongly encrypted, masked headers. */
const FORBIDDEN_FLAGS = 0b10_0000_0110_0001;
const MADE_ON_UNIX = 3;
const STORED = 0;
const DEFLATED = 8;
const TYPE_BITS = 0o170_000;
const LINK_TYPE = 0o120_000;
const FILE_TYPE = 0o100_000;
const FOLDER_TYPE = 0o040_000;

type Listed = {
  readonly path: string;
  readonly method: number;
  readonly checksum: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Unix file mode; 0 when it was made elsewhere. */
  readonly mode: number;
  /** Where its local header is. */
  readonly at: number;
};

/** Where an entry's bytes are: from its local header to the end of its data. */
type Extent = { readonly from: number; readonly data: number; readonly to: number };

/**
 * Reads a zip by its central directory: stored and deflated files, and folders. Links, encryption, Zip64, several disks,
 * entries that share bytes (that is how a few kilobytes become terabytes), and whatever the directory and the local
 * headers tell differently are a `BadArchive`, as are wrong lengths and checksums.
 */
export async function* readZip(file: FileHandle): AsyncGenerator<ArchiveEntry, void, void> {
  const { size } = await file.stat();
  const { listed, directoryAt } = await readDirectory(file, size);
  const placed: { readonly entry: Listed; readonly extent: Extent }[] = [];
  for (const entry of listed) placed.push({ entry, extent: await findExtent(file, entry, directoryAt) });
  let end = 0;
  for (const { extent } of [...placed].sort((left, right) => left.extent.from - right.extent.from)) {
    if (extent.from < end) throw new BadArchive("holds entries that share bytes");
    end = extent.to;
  }
  for (const { entry, extent } of placed) yield makeEntry(file, entry, extent);
}

async function readDirectory(
  file: FileHandle,
  size: number,
): Promise<{ listed: readonly Listed[]; directoryAt: number }> {
  const tailAt = Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await readAt(file, tailAt, size - tailAt);
  const endAt = findEnd(tail);
  if (endAt === undefined) throw new BadArchive("has no directory: it is cut off, or no zip");
  const end = tail.subarray(endAt);
  const count = end.readUInt16LE(10);
  const bytes = end.readUInt32LE(12);
  const directoryAt = end.readUInt32LE(16);
  if (end.readUInt16LE(4) !== 0 || end.readUInt16LE(6) !== 0 || end.readUInt16LE(8) !== count) {
    throw new BadArchive("is one of several disks");
  }
  if (bytes > MAX_DIRECTORY_BYTES || directoryAt + bytes !== tailAt + endAt) {
    throw new BadArchive("has its directory in an unexpected place");
  }
  const directory = await readAt(file, directoryAt, bytes);
  const listed: Listed[] = [];
  let at = 0;
  for (let left = count; left > 0; left--) {
    const { entry, length } = readListed(directory.subarray(at));
    listed.push(entry);
    at += length;
  }
  if (at !== directory.byteLength) throw new BadArchive("has a directory of another length than it says");
  return { listed, directoryAt };
}

/** The end record is the one whose comment reaches exactly to the end of the file. */
function findEnd(tail: Buffer): number | undefined {
  for (let at = tail.byteLength - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_MARK) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) === tail.byteLength) return at;
  }
  return undefined;
}

function readListed(bytes: Buffer): { entry: Listed; length: number } {
  if (bytes.byteLength < DIRECTORY_BYTES || bytes.readUInt32LE(0) !== DIRECTORY_MARK) {
    throw new BadArchive("has a malformed directory");
  }
  const nameBytes = bytes.readUInt16LE(28);
  const length = DIRECTORY_BYTES + nameBytes + bytes.readUInt16LE(30) + bytes.readUInt16LE(32);
  if (length > bytes.byteLength) throw new BadArchive("has a directory that is cut off");
  const path = readText(bytes.subarray(DIRECTORY_BYTES, DIRECTORY_BYTES + nameBytes));
  const shown = JSON.stringify(path.slice(0, 200));
  if ((bytes.readUInt16LE(8) & FORBIDDEN_FLAGS) !== 0) throw new BadArchive(`holds ${shown} encrypted or patched`);
  const entry = {
    path,
    method: bytes.readUInt16LE(10),
    checksum: bytes.readUInt32LE(16),
    packedBytes: bytes.readUInt32LE(20),
    bytes: bytes.readUInt32LE(24),
    mode: bytes.readUInt8(5) === MADE_ON_UNIX ? bytes.readUInt16LE(40) : 0,
    at: bytes.readUInt32LE(42),
  };
  const type = entry.mode & TYPE_BITS;
  if (type === LINK_TYPE) throw new BadArchive(`holds a link: ${shown}`);
  if (type !== 0 && type !== (path.endsWith("/") ? FOLDER_TYPE : FILE_TYPE)) {
    throw new BadArchive(`holds ${shown}, which is neither a file nor a folder`);
  }
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new BadArchive(`holds ${shown} packed by the unknown method ${entry.method}`);
  }
  if (entry.method === STORED && entry.packedBytes !== entry.bytes) {
    throw new BadArchive(`gives ${shown} two different lengths`);
  }
  return { entry, length };
}

async function findExtent(file: FileHandle, entry: Listed, directoryAt: number): Promise<Extent> {
  const shown = JSON.stringify(entry.path.slice(0, 200));
  if (entry.at + LOCAL_BYTES > directoryAt) throw new BadArchive(`has no content for ${shown}`);
  const header = await readAt(file, entry.at, LOCAL_BYTES);
  const nameBytes = header.readUInt16LE(26);
  const data = entry.at + LOCAL_BYTES + nameBytes + header.readUInt16LE(28);
  const to = data + entry.packedBytes;
  if (header.readUInt32LE(0) !== LOCAL_MARK || to > directoryAt) throw new BadArchive(`has no content for ${shown}`);
  const name = await readAt(file, entry.at + LOCAL_BYTES, nameBytes);
  const same = readText(name) === entry.path && header.readUInt16LE(8) === entry.method;
  if (!same || (header.readUInt16LE(6) & FORBIDDEN_FLAGS) !== 0) {
    throw new BadArchive(`says two different things about ${shown}`);
  }
  return { from: entry.at, data, to };
}

function makeEntry(file: FileHandle, entry: Listed, extent: Extent): ArchiveEntry {
  const { path } = entry;
  if (path.endsWith("/")) {
    if (entry.bytes !== 0) throw new BadArchive(`gives the folder ${JSON.stringify(path)} a content`);
    return { kind: "folder", path };
  }
  return { kind: "file", path, executable: (entry.mode & 0o100) !== 0, content: readContent(file, entry, extent) };
}

async function* readContent(file: FileHandle, entry: Listed, extent: Extent): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of entry.method === STORED ? readRange(file, extent) : inflateRange(file, extent)) {
    bytes += chunk.byteLength;
    // Before anything of it is written: a bomb says that it is small.
    if (bytes > entry.bytes) break;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (bytes !== entry.bytes || checksum !== entry.checksum) {
    throw new BadArchive(`holds ${JSON.stringify(entry.path)} with a wrong length or checksum`);
  }
}

/** Not by a stream of the handle: its end would close that. */
async function* readRange(file: FileHandle, { data, to }: Extent): AsyncGenerator<Uint8Array, void, void> {
  for (let at = data; at < to; at += CHUNK_BYTES) yield await readAt(file, at, Math.min(CHUNK_BYTES, to - at));
}

async function* inflateRange(file: FileHandle, extent: Extent): AsyncGenerator<Uint8Array, void, void> {
  if (extent.data === extent.to) throw new BadArchive("holds a packed file without content");
  const packed = Readable.from(readRange(file, extent));
  const inflate = createInflateRaw();
  packed.on("error", (cause) => inflate.destroy(cause));
  try {
    yield* packed.pipe(inflate) as AsyncIterable<Uint8Array>;
  } finally {
    packed.destroy();
    inflate.destroy();
  }
}

async function readAt(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const buffer = Buffer.alloc(count);
  for (let got = 0; got < count; ) {
    const { bytesRead } = await file.read(buffer, got, count - got, at + got);
    if (bytesRead === 0) throw new BadArchive("ends too early");
    got += bytesRead;
  }
  return buffer;
}
