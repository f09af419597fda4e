import { type ArchiveEntry, readText } from "./archive-entry.ts";
import { BadArchive } from "./bad-archive.ts";
import type { ByteStream } from "./byte-stream.ts";

const BLOCK_BYTES = 512;
/** Most of a header that only says more about the next entry: a path and a few times. */
const MAX_EXTRA_BYTES = 64 * 1024;

type Header = {
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
  readonly type: string;
};

/** What extra headers say about the next entry. */
type Extra = { readonly path?: string; readonly bytes?: number };

/**
 * Reads a tar: ustar with the extended headers of POSIX (path and size) and the long names of GNU. It holds plain files
 * and folders; links, devices and everything unknown are a `BadArchive`, as is one that does not end as it should.
 */
export async function* readTar(stream: ByteStream): AsyncGenerator<ArchiveEntry, void, void> {
  let extra: Extra = {};
  for (;;) {
    const block = await stream.take(BLOCK_BYTES);
    if (isZero(block)) return await expectEnd(stream);
    const header = readHeader(block);
    const bytes = extra.bytes ?? header.bytes;
    const path = extra.path ?? header.path;
    switch (header.type) {
      case "g":
        // Facts about all entries, e.g. the commit that they come from. A path or a size of all makes no sense.
        await takeExtra(stream, header.bytes);
        continue;
      case "x":
        extra = { ...extra, ...readRecords(await takeExtra(stream, header.bytes)) };
        continue;
      case "L":
        extra = { ...extra, path: untilNul(await takeExtra(stream, header.bytes)) };
        continue;
      case "5":
        if (bytes !== 0) throw new BadArchive(`gives the folder ${JSON.stringify(path)} a content`);
        yield { kind: "folder", path };
        break;
      case "0":
        // Before 1988 a folder was a file whose name ends with a slash.
        if (path.endsWith("/")) throw new BadArchive(`calls ${JSON.stringify(path)} a file`);
        yield { kind: "file", path, executable: header.executable, content: stream.pieces(bytes) };
        await stream.take(padding(bytes));
        break;
      default:
        throw new BadArchive(`holds ${sayType(header.type)}: ${JSON.stringify(path)}`);
    }
    extra = {};
  }
}

function sayType(type: string): string {
  if (type === "1" || type === "2") return "a link";
  return "346".includes(type) ? "a device or a pipe" : `an entry of the unknown type ${JSON.stringify(type)}`;
}

function readHeader(block: Uint8Array): Header {
  const text = (from: number, length: number) => untilNul(block.subarray(from, from + length));
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== readOctal(block.subarray(148, 156))) throw new BadArchive("has a header with a wrong checksum");
  const magic = text(257, 6);
  if (!magic.startsWith("ustar")) throw new BadArchive("is no ustar archive");
  // GNU writes a space behind the word, and times where POSIX has the beginning of a long path.
  const prefix = magic === "ustar" ? text(345, 155) : "";
  const name = text(0, 100);
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    bytes: readOctal(block.subarray(124, 136)),
    executable: (readOctal(block.subarray(100, 108)) & 0o100) !== 0,
    type: block[156] === 0 ? "0" : String.fromCharCode(block[156] ?? 0),
  };
}

function readOctal(field: Uint8Array): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(Buffer.from(field).toString("latin1"))?.[1];
  if (digits === undefined) throw new BadArchive("has a header with a malformed number");
  return Number.parseInt(digits, 8);
}

async function takeExtra(stream: ByteStream, bytes: number): Promise<Uint8Array> {
  if (bytes > MAX_EXTRA_BYTES) throw new BadArchive("has an extended header that is too large");
  const content = await stream.take(bytes);
  await stream.take(padding(bytes));
  return content;
}

/** Records of the form "LENGTH KEY=VALUE\n", where the length counts the whole record. */
function readRecords(bytes: Uint8Array): Extra {
  let path: string | undefined;
  let size: number | undefined;
  for (let at = 0; at < bytes.byteLength; ) {
    const digits = /^[1-9][0-9]{0,5}(?= )/.exec(Buffer.from(bytes.subarray(at, at + 8)).toString("latin1"))?.[0] ?? "";
    const record = bytes.subarray(at, at + Number(digits));
    if (digits === "" || record.byteLength !== Number(digits) || record.at(-1) !== 0x0a) {
      throw new BadArchive("has a malformed extended header");
    }
    const [key = "", ...value] = readText(record.subarray(digits.length + 1, -1)).split("=");
    if (key === "path") path = value.join("=");
    if (key === "size") size = readSize(value.join("="));
    if (key.startsWith("GNU.sparse.")) throw new BadArchive("holds a sparse file");
    at += record.byteLength;
  }
  return { ...(path === undefined ? {} : { path }), ...(size === undefined ? {} : { bytes: size }) };
}

function readSize(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new BadArchive("has a malformed size in an extended header");
  return Number(text);
}

/** Behind the last entry are two blocks of zeros or more, and then nothing. */
async function expectEnd(stream: ByteStream): Promise<void> {
  if (!isZero(await stream.take(BLOCK_BYTES))) throw new BadArchive("goes on behind its end");
  // To the very end, because that is where the checksum of a compressed stream is.
  for (let chunk = await stream.rest(); chunk !== undefined; chunk = await stream.rest()) {
    if (!isZero(chunk)) throw new BadArchive("goes on behind its end");
  }
}

function padding(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function untilNul(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return readText(end < 0 ? bytes : bytes.subarray(0, end));
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
