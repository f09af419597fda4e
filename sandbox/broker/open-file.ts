import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { oneByOne } from "../../core/domain/one-by-one.ts";
import type { FileFacts, OpenOptions } from "../guest/guest-protocol.ts";
import { type AdmittedPath, admitPath, type FileDesk, judgeReal } from "./file-place.ts";
import { describeFacts, look, notRegular } from "./file-reading.ts";
import { isHarmlessDevice } from "./file-rules.ts";
import { FILE_LIMIT_BYTES, findFault, openEntry, openJudged, tooLargeToWrite } from "./file-writing.ts";
import type { Held } from "./handle-table.ts";
import { done, type Outcome, onSystem, refuse, systemError } from "./outcome.ts";

/** Files that one guest holds open. */
export const OPEN_FILES_MAX = 64;
/** Most bytes of one read of an open file. */
export const PIECE_LIMIT_BYTES = 1024 * 1024;

/** An open file of a guest's. Its acts come one after the other; it stays what was judged when it was opened. */
export type OpenFile = Held & {
  read(bytes: number): Promise<Outcome<Buffer | null>>;
  write(data: Buffer): Promise<Outcome<number>>;
  seek(offset: number, whence: number): Promise<Outcome<number>>;
  truncate(length: number): Promise<Outcome<null>>;
  sync(): Promise<Outcome<null>>;
  stat(): Promise<Outcome<FileFacts>>;
  utime(atimeMs: number, mtimeMs: number): Promise<Outcome<null>>;
};

type Access = { readonly read: boolean; readonly write: boolean; readonly append: boolean; readonly isDevice: boolean };

/** Opens a file as `Deno.open` does: judged by its name and as it was opened, for everything that it is opened for. */
export async function openGuestFile(desk: FileDesk, named: string, options: OpenOptions): Promise<Outcome<OpenFile>> {
  const act = `open '${named}'`;
  const fault = findOptionsFault(options, act);
  if (fault) return fault;
  return options.write || options.append ? openToWrite(desk, named, options, act) : openToRead(desk, named, act);
}

/** Deno's own words for what makes no sense. */
function findOptionsFault(options: OpenOptions, act: string): Outcome<never> | undefined {
  const { read, write, append, truncate, create, createNew } = options;
  if (!(read || write || append || truncate || create || createNew))
    return refuse("Error", "'options' requires at least one option to be true");
  if (truncate && !write) return refuse("Error", "'truncate' option requires 'write' to be true");
  if ((create || createNew) && !(write || append))
    return refuse("Error", "'create' or 'createNew' options require 'write' or 'append' to be true");
  if (truncate && append)
    return refuse("TypeError", `creating or truncating a file requires write or append access: ${act}`);
  return undefined;
}

function openToRead(desk: FileDesk, named: string, act: string): Promise<Outcome<OpenFile>> {
  return look(desk, named, act, true, async (place) => {
    const isDevice = isHarmlessDevice(place.real);
    if (place.facts.isDirectory()) return systemError("EISDIR", act);
    if (!place.facts.isFile() && !isDevice) return notRegular(named);
    const handle = await onSystem(act, () => place.use(constants.O_RDONLY));
    return handle.ok
      ? done(openFile(handle.value, named, { read: true, write: false, append: false, isDevice }))
      : handle;
  });
}

async function openToWrite(
  desk: FileDesk,
  named: string,
  options: OpenOptions,
  act: string,
): Promise<Outcome<OpenFile>> {
  let reading: AdmittedPath | undefined;
  if (options.read) {
    const admitted = await admitPath(desk, "read", named, act);
    if (!admitted.ok) return admitted;
    reading = admitted.value;
  }
  const writing = await admitPath(desk, "write", named, act);
  if (!writing.ok) return writing;
  const entry = await openEntry(desk, "write", writing.value, act, true);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const unreadable = reading && (await judgeReal(desk, "read", reading.admission, place.real));
  if (unreadable) return unreadable;
  for (const admitted of reading ? [reading, writing.value] : [writing.value]) {
    const written = await admitted.admission.allow(place.real);
    if (!written.ok) return written;
  }
  const fault = findFault(place.facts, place.real, named, options, act);
  if (fault) return fault;
  desk.effect();
  const flags = options.read ? constants.O_RDWR : constants.O_WRONLY;
  const opened = await openJudged(place, named, { ...options, flags }, act);
  if (!opened.ok) return opened;
  const { handle, isDevice } = opened.value;
  if (options.truncate && !isDevice) {
    const cut = await onSystem(act, () => handle.truncate(0));
    if (!cut.ok) {
      await handle.close();
      return cut;
    }
  }
  return done(openFile(handle, named, { read: options.read, write: true, append: options.append, isDevice }));
}

function openFile(handle: FileHandle, named: string, access: Access): OpenFile {
  const inTurn = oneByOne();
  let position = 0;

  async function sizeOf(): Promise<number> {
    return (await handle.stat()).size;
  }
  /** Does it when the file was opened for it; `onSystem` translates. */
  function act<T>(allowed: boolean, code: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    if (!allowed) return Promise.resolve(systemError(code, ""));
    return inTurn(async () => {
      const outcome = await onSystem("", work);
      return outcome.ok ? outcome.value : outcome;
    });
  }

  return {
    read: (bytes) =>
      act(access.read, "EBADF", async () => {
        const buffer = Buffer.allocUnsafe(Math.min(bytes, PIECE_LIMIT_BYTES));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, access.isDevice ? null : position);
        position += bytesRead;
        return done(bytesRead === 0 ? null : buffer.subarray(0, bytesRead));
      }),
    write: (data) =>
      act(access.write, "EBADF", async () => {
        if (access.isDevice) return done(data.length);
        if (access.append) position = await sizeOf();
        if (position + data.length > FILE_LIMIT_BYTES) return tooLargeToWrite(named);
        for (let at = 0; at < data.length; ) {
          const { bytesWritten } = await handle.write(data, at, data.length - at, position);
          at += bytesWritten;
          position += bytesWritten;
        }
        return done(data.length);
      }),
    seek: (offset, whence) =>
      act(true, "", async () => {
        const base = whence === 0 ? 0 : whence === 1 ? position : await sizeOf();
        const wanted = base + offset;
        if (wanted < 0 || !Number.isSafeInteger(wanted)) return systemError("EINVAL", "");
        position = wanted;
        return done(position);
      }),
    truncate: (length) =>
      act(access.write, "EINVAL", async () => {
        if (length > FILE_LIMIT_BYTES) return tooLargeToWrite(named);
        if (!access.isDevice) await handle.truncate(length);
        return done(null);
      }),
    sync: () =>
      act(true, "", async () => {
        if (!access.isDevice) await handle.sync();
        return done(null);
      }),
    stat: () => act(true, "", async () => done(describeFacts(await handle.stat()))),
    utime: (atimeMs, mtimeMs) =>
      act(access.write && !access.isDevice, "EPERM", async () => {
        await handle.utimes(atimeMs / 1000, mtimeMs / 1000);
        return done(null);
      }),
    close: () => inTurn(() => handle.close()),
  };
}
