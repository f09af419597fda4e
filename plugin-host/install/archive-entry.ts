import { BadArchive } from "./bad-archive.ts";

/** One entry of an archive. The content is to be read to its end before the next entry is asked for. */
export type ArchiveEntry =
  | { readonly kind: "folder"; readonly path: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly executable: boolean;
      readonly content: AsyncIterable<Uint8Array>;
    };

const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 32;

/** The path of an entry, relative and without detours; "" is the top itself. One that could lead anywhere else is a `BadArchive`. */
export function judgeEntryPath(written: string): string {
  const shown = JSON.stringify(written.slice(0, 200));
  if (written === "") throw new BadArchive("holds an entry without a name");
  if (written.startsWith("/")) throw new BadArchive(`holds the absolute path ${shown}`);
  // A backslash separates folders elsewhere; control characters would lie to whoever reads a list.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\u0000-\u001f\u007f]/.test(written)) throw new BadArchive(`holds a path with forbidden characters: ${shown}`);
  const names = written.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw new BadArchive(`holds the path ${shown}, which leads out of it`);
  const tooLong = Buffer.byteLength(written) > MAX_PATH_BYTES || names.length > MAX_DEPTH;
  if (tooLong || names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw new BadArchive(`holds a path that is too long: ${shown}`);
  }
  return names.join("/");
}

/** Text of an archive's header; what is not UTF-8 is a `BadArchive`. */
export function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BadArchive("holds a name that is not UTF-8");
  }
}
