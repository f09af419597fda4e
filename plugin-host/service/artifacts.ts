import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";

const PIECE_LIMIT_BYTES = 1024 * 1024;
const ARTIFACT_LIMIT_BYTES = 64 * 1024 * 1024;
/** Of one plugin. Beyond either, the artifact goes that was not written for the longest time. */
const PLUGIN_LIMIT_BYTES = 512 * 1024 * 1024;
const PLUGIN_LIMIT_ARTIFACTS = 256;

const ID_BYTES = 16;
const ID = /^[0-9a-f]{32}$/;
const MIME = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/i;
const UNKNOWN_MIME = "application/octet-stream";
const MIME_SUFFIX = ".mime";

export type Piece = {
  /** Empty begins a new artifact. */
  readonly artifactId: string;
  /** Added at its end. */
  readonly data: Uint8Array;
  /** Heard with the first piece. */
  readonly mimeType: string;
};

export type ArtifactFacts = { readonly mimeType: string; readonly sizeBytes: number };

/** Bytes that are too large for a message, each plugin's own: files that outlive its process and the daemon. */
export type Artifacts = {
  write(plugin: string, piece: Piece): Promise<Result<{ readonly artifactId: string; readonly sizeBytes: number }>>;
  /** None at the artifact's end. A limit of 0 means 1 MiB. */
  read(plugin: string, artifactId: string, offsetBytes: number, limitBytes: number): Promise<Result<Uint8Array>>;
  describe(plugin: string, artifactId: string): Promise<Result<ArtifactFacts>>;
  /** Removes all that a plugin has. */
  clear(plugin: string): Promise<Result<void>>;
};

/** @param dir absolute; out of every plugin's reach. Made when something is first written. */
export function openArtifacts(dir: string, random: (bytes: number) => Uint8Array): Artifacts {
  const shelves = new Map<string, Promise<Shelf>>();
  const turns = new Map<string, Promise<unknown>>();

  /** One change of a plugin's artifacts after the other; what fails on the disk becomes a failure. */
  function inTurn<T>(plugin: string, doing: string, task: () => Promise<Result<T>>): Promise<Result<T>> {
    const mine = (turns.get(plugin) ?? Promise.resolve())
      .then(task)
      .catch((cause: unknown) => diskFailure(doing, cause));
    turns.set(plugin, mine);
    void mine.finally(() => {
      if (turns.get(plugin) === mine) turns.delete(plugin);
    });
    return mine;
  }

  async function shelfOf(plugin: string): Promise<Shelf> {
    const known = shelves.get(plugin) ?? readShelf(join(dir, plugin));
    shelves.set(plugin, known);
    return known.catch((cause: unknown) => {
      shelves.delete(plugin);
      throw cause;
    });
  }

  return {
    write: (plugin, piece) =>
      inTurn(plugin, "be written", async () => {
        const wrong = checkPiece(piece);
        if (wrong !== undefined) return wrong;
        const shelf = await shelfOf(plugin);
        const artifactId = piece.artifactId === "" ? Buffer.from(random(ID_BYTES)).toString("hex") : piece.artifactId;
        const before = piece.artifactId === "" ? 0 : shelf.sizes.get(artifactId);
        if (before === undefined) return noArtifact();
        const sizeBytes = before + piece.data.length;
        if (sizeBytes > ARTIFACT_LIMIT_BYTES)
          return fail("exhausted", `an artifact has at most ${ARTIFACT_LIMIT_BYTES / 1024 / 1024} MiB`);
        try {
          if (piece.artifactId === "") await beginArtifact(shelf, artifactId, piece);
          else await appendBytes(shelf, artifactId, before, piece.data);
        } catch (cause) {
          // Nobody can say what lies there now, so it is looked at before the next is written.
          shelves.delete(plugin);
          throw cause;
        }
        // Last, since it was written last: what stands first is what goes first.
        shelf.sizes.delete(artifactId);
        shelf.sizes.set(artifactId, sizeBytes);
        await makeRoom(shelf);
        return ok({ artifactId, sizeBytes });
      }),
    read: (plugin, artifactId, offsetBytes, limitBytes) =>
      inTurn(plugin, "be read", async () => {
        if (!Number.isSafeInteger(offsetBytes) || offsetBytes < 0)
          return fail("invalid", "the offset is no whole number of bytes");
        const shelf = await shelfOf(plugin);
        const sizeBytes = ID.test(artifactId) ? shelf.sizes.get(artifactId) : undefined;
        if (sizeBytes === undefined) return noArtifact();
        const wanted = limitBytes === 0 ? PIECE_LIMIT_BYTES : Math.min(limitBytes, PIECE_LIMIT_BYTES);
        const length = Math.max(0, Math.min(wanted, sizeBytes - offsetBytes));
        return ok(await readBytes(join(shelf.folder, artifactId), offsetBytes, length));
      }),
    describe: (plugin, artifactId) =>
      inTurn(plugin, "be read", async () => {
        const shelf = await shelfOf(plugin);
        const sizeBytes = ID.test(artifactId) ? shelf.sizes.get(artifactId) : undefined;
        if (sizeBytes === undefined) return noArtifact();
        return ok({ mimeType: await readFile(join(shelf.folder, `${artifactId}${MIME_SUFFIX}`), "utf8"), sizeBytes });
      }),
    clear: (plugin) =>
      inTurn(plugin, "be removed", async () => {
        await rm(join(dir, plugin), { recursive: true, force: true });
        shelves.delete(plugin);
        return ok(undefined);
      }),
  };
}

/** One plugin's artifacts and their lengths, bytes; the one that was not written for the longest time first. */
type Shelf = { readonly folder: string; readonly sizes: Map<string, number> };

async function readShelf(folder: string): Promise<Shelf> {
  const names = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return [];
    throw cause;
  });
  const ids = new Set(names.filter((name) => ID.test(name)));
  for (const name of names) {
    // A beginning that did not come to its first byte: it is no artifact, and must not gather.
    if (!ids.has(name) && !ids.has(name.slice(0, -MIME_SUFFIX.length))) await rm(join(folder, name), { force: true });
  }
  const found: { readonly id: string; readonly size: number; readonly mtimeMs: number }[] = [];
  for (const id of ids) {
    const { size, mtimeMs } = await stat(join(folder, id));
    found.push({ id, size, mtimeMs });
  }
  found.sort((left, right) => left.mtimeMs - right.mtimeMs || (left.id < right.id ? -1 : 1));
  return { folder, sizes: new Map(found.map(({ id, size }) => [id, size])) };
}

function checkPiece({ artifactId, data, mimeType }: Piece) {
  if (artifactId !== "" && !ID.test(artifactId)) return noArtifact();
  if (data.length > PIECE_LIMIT_BYTES)
    return fail("exhausted", `at most ${PIECE_LIMIT_BYTES} bytes are written at once, not ${data.length}`, {
      hint: "write it in pieces",
    });
  if (artifactId === "" && mimeType !== "" && !MIME.test(mimeType))
    return fail("invalid", "the mime type is none", { hint: 'it looks like "image/png"' });
  return undefined;
}

/** Leaves nothing behind when it fails: nobody would know of it. */
async function beginArtifact(shelf: Shelf, id: string, { data, mimeType }: Piece): Promise<void> {
  await mkdir(shelf.folder, { recursive: true, mode: 0o700 });
  const type = mimeType === "" ? UNKNOWN_MIME : mimeType;
  try {
    await writeFile(join(shelf.folder, `${id}${MIME_SUFFIX}`), type, { flag: "wx", mode: 0o600 });
    await appendBytes(shelf, id, 0, data);
  } catch (cause) {
    // What cannot even be removed is found, and counted, when the folder is read again.
    await removeArtifact(shelf.folder, id).catch(() => {});
    throw cause;
  }
}

async function removeArtifact(folder: string, id: string): Promise<void> {
  await rm(join(folder, id), { force: true });
  await rm(join(folder, `${id}${MIME_SUFFIX}`), { force: true });
}

async function appendBytes(shelf: Shelf, id: string, before: number, data: Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(join(shelf.folder, id), flags, 0o600);
  try {
    await writeAll(file, before, data);
  } catch (cause) {
    // Half a piece is none: its plugin is told that it was not written.
    await file.truncate(before);
    throw cause;
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, position: number, data: Uint8Array): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

async function readBytes(path: string, offset: number, length: number): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array();
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** What is written just now is last, and stays: alone it is within the limits. */
async function makeRoom({ folder, sizes }: Shelf): Promise<void> {
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  for (const [id, size] of sizes) {
    if (total <= PLUGIN_LIMIT_BYTES && sizes.size <= PLUGIN_LIMIT_ARTIFACTS) return;
    await removeArtifact(folder, id);
    sizes.delete(id);
    total -= size;
  }
}

function noArtifact() {
  return fail("not_found", "there is no such artifact of yours", { hint: "it may have been removed to make room" });
}

function diskFailure(doing: string, cause: unknown) {
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const full = code === "ENOSPC" || code === "EDQUOT";
  return fail(
    full ? "exhausted" : "unavailable",
    `the artifact cannot ${doing}${full ? ": the disk is full" : ` (${code})`}`,
    { cause },
  );
}
