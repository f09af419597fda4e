import { constants } from "node:fs";
import { chmod, type FileHandle, readlink, utimes } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { admitPath, type FileDesk, judgeReal, openAdmitted } from "./file-place.ts";
import { notRegular } from "./file-reading.ts";
import { FILE_LIMIT_BYTES, findFault, MODE_BITS, openEntry, openJudged, tooLargeToWrite } from "./file-writing.ts";
import { realPlace } from "./ground-grant.ts";
import type { OpenedPlace } from "./opened-place.ts";
import { done, type Outcome, onSystem, refuse, systemError } from "./outcome.ts";

/** Bytes that are copied at once. */
const COPY_PIECE_BYTES = 256 * 1024;

/** Copies a regular file with its permission bits, as `Deno.copyFile` does. */
export async function copyGuestFile(desk: FileDesk, from: string, to: string): Promise<Outcome<null>> {
  const act = `copy '${from}' -> '${to}'`;
  const reading = await admitPath(desk, "read", from, act);
  if (!reading.ok) return reading;
  const making = await admitPath(desk, "write", to, act);
  if (!making.ok) return making;
  const opened = await openAdmitted(desk, "read", reading.value, act, true);
  if (!opened.ok) return opened;
  await using source = opened.value;
  const entry = await openEntry(desk, "write", making.value, act, true);
  if (!entry.ok) return entry;
  await using target = entry.value;
  for (const [{ admission }, real] of [
    [reading.value, source.real],
    [making.value, target.real],
  ] as const) {
    const written = await admission.allow(real);
    if (!written.ok) return written;
  }
  if (!source.facts.isFile())
    return refuse("TypeError", `the source path is neither a regular file nor a symlink to a regular file: ${act}`);
  if (source.facts.size > FILE_LIMIT_BYTES) return tooLargeToWrite(to);
  // Onto itself it would be empty before it is read.
  if (target.facts?.ino === source.facts.ino && target.facts.dev === source.facts.dev) return done(null);
  const how = { append: false, create: true, createNew: false, mode: source.facts.mode, flags: constants.O_WRONLY };
  const fault = findFault(target.facts, target.real, to, how, act);
  if (fault) return fault;
  desk.effect();
  const made = await openJudged(target, to, how, act);
  if (!made.ok) return made;
  await using into = made.value.handle;
  const { isDevice } = made.value;
  const copied = await onSystem(act, async () => {
    await using file = await source.use(constants.O_RDONLY);
    if (!isDevice) {
      await into.chmod(source.facts.mode & MODE_BITS);
      await into.truncate(0);
    }
    // Awaited here: the file is closed on the way out.
    return await copyAll(file, into);
  });
  if (!copied.ok) return copied;
  return copied.value ? done(null) : tooLargeToWrite(to);
}

/** False when the source grows past the limit while it is read. */
async function copyAll(from: FileHandle, to: FileHandle): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(COPY_PIECE_BYTES);
  for (let copied = 0; copied <= FILE_LIMIT_BYTES; ) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return true;
    for (let at = 0; at < bytesRead; ) at += (await to.write(buffer, at, bytesRead - at)).bytesWritten;
    copied += bytesRead;
  }
  return false;
}

/** Cuts or stretches a file, as `Deno.truncate` does. */
export async function truncateFile(desk: FileDesk, named: string, length: number): Promise<Outcome<null>> {
  const act = `truncate '${named}'`;
  const admitted = await admitPath(desk, "write", named, act);
  if (!admitted.ok) return admitted;
  const entry = await openEntry(desk, "write", admitted.value, act, true);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const written = await admitted.value.admission.allow(place.real);
  if (!written.ok) return written;
  const how = { append: false, create: false, createNew: false, mode: null, flags: constants.O_WRONLY };
  const fault = findFault(place.facts, place.real, named, how, act);
  if (fault) return fault;
  if (length > FILE_LIMIT_BYTES) return tooLargeToWrite(named);
  desk.effect();
  const opened = await openJudged(place, named, how, act);
  if (!opened.ok) return opened;
  await using file = opened.value.handle;
  if (opened.value.isDevice) return done(null);
  return await onSystem(act, async () => {
    await file.truncate(length);
    return null;
  });
}

/** Sets the permission bits of a file or folder; what makes a program run as someone else is not among them. */
export function changeMode(desk: FileDesk, named: string, mode: number): Promise<Outcome<null>> {
  return changeEntry(desk, named, `chmod '${named}'`, (place) => chmod(place.self, mode & MODE_BITS));
}

export function changeTimes(desk: FileDesk, named: string, atimeMs: number, mtimeMs: number): Promise<Outcome<null>> {
  return changeEntry(desk, named, `utime '${named}'`, (place) => utimes(place.self, atimeMs / 1000, mtimeMs / 1000));
}

async function changeEntry(
  desk: FileDesk,
  named: string,
  act: string,
  change: (place: OpenedPlace) => Promise<void>,
): Promise<Outcome<null>> {
  const admitted = await admitPath(desk, "write", named, act);
  if (!admitted.ok) return admitted;
  const opened = await openAdmitted(desk, "write", admitted.value, act, true);
  if (!opened.ok) return opened;
  await using place = opened.value;
  const written = await admitted.value.admission.allow(place.real);
  if (!written.ok) return written;
  const { facts } = place;
  if (!facts.isDirectory()) {
    if (!facts.isFile()) return notRegular(named);
    const fault = findFault(facts, place.real, named, { create: false, createNew: false }, act);
    if (fault) return fault;
  }
  desk.effect();
  return await onSystem(act, async () => {
    await change(place);
    return null;
  });
}

/** Where a path really leads, for a guest that may read there. */
export async function realPathFor(desk: FileDesk, named: string): Promise<Outcome<string>> {
  const act = `realpath '${named}'`;
  const admitted = await admitPath(desk, "read", named, act);
  if (!admitted.ok) return admitted;
  const opened = await openAdmitted(desk, "read", admitted.value, act, true);
  if (!opened.ok) return opened;
  await using place = opened.value;
  const written = await admitted.value.admission.allow(place.real);
  return written.ok ? done(place.real) : written;
}

/**
 * What a link says, for a guest that may read the place that it leads to: any other text would name a place that is not
 * the guest's to know.
 */
export async function readLinkFor(desk: FileDesk, named: string): Promise<Outcome<string>> {
  const act = `readlink '${named}'`;
  const admitted = await admitPath(desk, "read", named, act);
  if (!admitted.ok) return admitted;
  const { admission } = admitted.value;
  const entry = await openEntry(desk, "read", admitted.value, act, false);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const isLink = place.facts?.isSymbolicLink() === true;
  const text = isLink ? await onSystem(act, () => readlink(place.folder.entry(place.name))) : undefined;
  if (text?.ok) {
    const target = await realPlace(resolve(dirname(place.real), text.value));
    const refused = await judgeReal(desk, "read", admission, target);
    if (refused) return refused;
  }
  const written = await admission.allow(place.real);
  if (!written.ok) return written;
  return text ?? systemError(place.facts === undefined ? "ENOENT" : "EINVAL", act);
}
