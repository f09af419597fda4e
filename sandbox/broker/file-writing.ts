import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { WriteOptions } from "../guest/guest-protocol.ts";
import { type AdmittedPath, admitPath, entryPlace, type FileDesk, judgeReal } from "./file-place.ts";
import { notRegular } from "./file-reading.ts";
import { isKernelPlace } from "./file-rules.ts";
import { realPlace } from "./ground-grant.ts";
import { type OpenedPlace, openPlace, realPathOf } from "./opened-place.ts";
import { done, type Outcome, onSystem, type Refused, refuse, systemCode, systemError } from "./outcome.ts";

/** Most bytes of one write. */
export const WRITE_LIMIT_BYTES = 4 * 1024 * 1024;
/** Size up to which a guest can make a file grow, bytes. */
export const FILE_LIMIT_BYTES = 16 * 1024 * 1024;
/** Permission bits; what makes a program run as someone else is not a guest's to set. */
export const MODE_BITS = 0o777;
const NEW_FILE_MODE = 0o666;

/** A name in an opened folder that a guest may write to. */
export type WritableEntry = AsyncDisposable & {
  readonly folder: OpenedPlace;
  readonly name: string;
  /** Where it lies, or is going to. */
  readonly real: string;
  /** What is there now; undefined when nothing is. */
  readonly facts: Stats | undefined;
};

/**
 * Opens the folder of an admitted path and judges the place in it. The caller closes it.
 * @param followLast true for what a link leads to, false for the entry itself
 */
export async function openEntry(
  desk: FileDesk,
  kind: "read" | "write",
  { admission, path }: AdmittedPath,
  act: string,
  followLast: boolean,
): Promise<Outcome<WritableEntry>> {
  const target = followLast ? await realPlace(path) : await entryPlace(path);
  const name = basename(target);
  const opened = await onSystem(act, () => openPlace(dirname(target), true));
  const real = opened.ok ? join(opened.value.real, name) : target;
  const refused = await judgeReal(desk, kind, admission, real);
  if (!opened.ok) return refused ?? (await recorded(admission.allow(""), opened));
  const folder = opened.value;
  const stop = async (refusal: Refused) => {
    await folder[Symbol.asyncDispose]();
    return refusal;
  };
  if (refused) return stop(refused);
  if (!folder.facts.isDirectory()) return stop(await recorded(admission.allow(real), systemError("ENOTDIR", act)));
  if (name === "") return stop(await recorded(admission.allow(real), systemError("EBUSY", act)));
  const facts = await onSystem(act, () => factsOf(folder, name));
  if (!facts.ok) return stop(await recorded(admission.allow(real), facts));
  return done({
    folder,
    name,
    real,
    facts: facts.value,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  });
}

/** The failure of what was allowed, once the yes is written down. */
async function recorded(written: Promise<Outcome<null>>, failure: Refused): Promise<Refused> {
  const record = await written;
  return record.ok ? failure : record;
}

async function factsOf(folder: OpenedPlace, name: string): Promise<Stats | undefined> {
  try {
    await using place = await openPlace(folder.entry(name), false);
    return place.facts;
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** Writes a file as `Deno.writeFile` does. */
export async function writeGuestFile(
  desk: FileDesk,
  named: string,
  data: Buffer,
  options: WriteOptions,
): Promise<Outcome<null>> {
  const act = `writefile '${named}'`;
  const admitted = await admitPath(desk, "write", named, act);
  if (!admitted.ok) return admitted;
  const entry = await openEntry(desk, "write", admitted.value, act, true);
  if (!entry.ok) return entry;
  await using place = entry.value;
  const written = await admitted.value.admission.allow(place.real);
  if (!written.ok) return written;
  const fault = findFault(place.facts, place.real, named, options, act);
  if (fault) return fault;
  desk.effect();
  const opened = await openJudged(place, named, { ...options, flags: constants.O_WRONLY }, act);
  if (!opened.ok) return opened;
  await using file = opened.value.handle;
  return await writeInto(file, opened.value, named, data, options, act);
}

/** What is there must be a regular file that has no second name, through which something else would be changed. */
export function findFault(
  facts: Stats | undefined,
  real: string,
  named: string,
  options: Pick<WriteOptions, "create" | "createNew">,
  act: string,
): Refused | undefined {
  if (facts === undefined) return options.create || options.createNew ? undefined : systemError("ENOENT", act);
  if (options.createNew) return systemError("EEXIST", act);
  if (facts.isDirectory()) return systemError("EISDIR", act);
  if (facts.isSymbolicLink()) return systemError("ELOOP", act);
  if (!facts.isFile()) return real === "/dev/null" ? undefined : (notRegular(named) as Refused);
  if (facts.nlink > 1) return refuse("Error", `"${named}" has a second name, and is not written`);
  return undefined;
}

/** How a file is opened for writing; `flags`: O_WRONLY or O_RDWR. */
export type WritingPlan = WriteOptions & { readonly flags: number };

/** A file that is open for writing, judged as it was opened and not truncated yet. The caller closes the handle. */
export type JudgedFile = {
  readonly handle: FileHandle;
  readonly facts: Stats;
  /** One of the few devices that take what is written. */
  readonly isDevice: boolean;
};

function openForWriting(place: WritableEntry, plan: WritingPlan): Promise<FileHandle> {
  const { append, create, createNew, mode } = plan;
  // Not truncated yet: only what is judged once more may lose its content.
  const flags =
    plan.flags |
    constants.O_NOFOLLOW |
    constants.O_NONBLOCK |
    constants.O_NOCTTY |
    (append ? constants.O_APPEND : 0) |
    (create || createNew ? constants.O_CREAT : 0) |
    (createNew ? constants.O_EXCL : 0);
  return open(place.folder.entry(place.name), flags, mode === null ? NEW_FILE_MODE : mode & MODE_BITS);
}

/** Opens an entry that was judged and recorded, and judges once more what was really opened. */
export async function openJudged(
  place: WritableEntry,
  named: string,
  plan: WritingPlan,
  act: string,
): Promise<Outcome<JudgedFile>> {
  const handle = await onSystem(act, () => openForWriting(place, plan));
  if (!handle.ok) return handle;
  const file = handle.value;
  const stop = async (refusal: Refused) => {
    await file.close();
    return refusal;
  };
  const opened = await onSystem(act, async () => {
    const facts = await file.stat();
    return { facts, real: await realPathOf(file, place.folder.entry(place.name), facts) };
  });
  if (!opened.ok) return stop(opened);
  const { facts, real } = opened.value;
  // The folder may have been moved meanwhile, which moves what is written there, too; another file it must not be.
  const fault = findFault(facts, real, named, { ...plan, createNew: false }, act);
  if (fault) return stop(fault);
  if (real !== place.real)
    return stop(refuse("Busy", `"${named}" was exchanged while it was opened, and is not written`));
  return done({ handle: file, facts, isDevice: isKernelPlace(real) });
}

export function tooLargeToWrite(named: string): Refused {
  return refuse("Error", `"${named}" would have more than ${FILE_LIMIT_BYTES} bytes, which is the limit`);
}

async function writeInto(
  file: FileHandle,
  { facts, isDevice }: JudgedFile,
  named: string,
  data: Buffer,
  options: WriteOptions,
  act: string,
): Promise<Outcome<null>> {
  if ((options.append ? facts.size : 0) + data.length > FILE_LIMIT_BYTES) return tooLargeToWrite(named);
  return onSystem(act, async () => {
    if (options.mode !== null && !isDevice) await file.chmod(options.mode & MODE_BITS);
    if (!options.append && !isDevice) await file.truncate(0);
    for (let at = 0; at < data.length; ) at += (await file.write(data, at)).bytesWritten;
    return null;
  });
}
