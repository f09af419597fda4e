import { mkdir, mkdtemp, open, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { admitPath, entryPlace, type FileDesk, judgeReal } from "./file-place.ts";
import { openEntry, type WritableEntry } from "./file-writing.ts";
import { done, type Outcome, onSystem, refuse } from "./outcome.ts";

/** Names that are tried when one is taken already. */
const TRIES_MAX = 16;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export type TemporaryOrder = {
  readonly kind: "file" | "folder";
  /** Null for the guest's own temporary folder. */
  readonly dir: string | null;
  readonly prefix: string;
  readonly suffix: string;
};

/** Files and folders with names that nobody can guess. */
export type TemporaryPlaces = {
  make(desk: FileDesk, order: TemporaryOrder): Promise<Outcome<string>>;
  /** Removes the guest's own temporary folder with all that is in it. */
  close(): Promise<void>;
};

/**
 * @param folder absolute; in it the guest's own folder is made when it is first needed. It must be granted for writing,
 * as any other.
 * @param newName gives a name that nobody can guess: lower-case hex
 */
export function temporaryPlaces(folder: string, newName: () => string): TemporaryPlaces {
  let own: Promise<Outcome<string>> | undefined;

  /** The guest's own folder, once it may write there. */
  async function ownFolder(desk: FileDesk, act: string): Promise<Outcome<string>> {
    const admitted = await admitPath(desk, "write", folder, act);
    if (!admitted.ok) return admitted;
    const { admission, path } = admitted.value;
    const real = await entryPlace(path);
    const refused = await judgeReal(desk, "write", admission, real);
    if (refused) return refused;
    const written = await admission.allow(real);
    if (!written.ok) return written;
    desk.effect();
    own ??= onSystem(act, async () => realpath(await mkdtemp(join(folder, "clawd-run-"))));
    return own;
  }

  async function makeIn(desk: FileDesk, dir: string, order: TemporaryOrder, act: string): Promise<Outcome<string>> {
    const path = join(dir, `${order.prefix}${newName()}${order.suffix}`);
    const admitted = await admitPath(desk, "write", path, act);
    if (!admitted.ok) return admitted;
    const entry = await openEntry(desk, "write", admitted.value, act, false);
    if (!entry.ok) return entry;
    await using place = entry.value;
    const written = await admitted.value.admission.allow(place.real);
    if (!written.ok) return written;
    desk.effect();
    return await onSystem(act, async () => {
      await makeAt(place, order.kind);
      return path;
    });
  }

  return {
    async make(desk, order) {
      const act = order.kind === "file" ? "maketempfile" : "maketempdir";
      if (/[/\0]/.test(order.prefix + order.suffix))
        return refuse("TypeError", `Invalid character in prefix or suffix`);
      const dir = order.dir === null ? await ownFolder(desk, act) : done(order.dir);
      if (!dir.ok) return dir;
      for (let tries = 1; ; tries += 1) {
        const made = await makeIn(desk, dir.value, order, `${act} '${dir.value}'`);
        if (made.ok || made.error.name !== "AlreadyExists" || tries >= TRIES_MAX) return made;
      }
    },
    async close() {
      const made = await own;
      if (made?.ok) await rm(made.value, { recursive: true, force: true });
    },
  };
}

async function makeAt(place: WritableEntry, kind: TemporaryOrder["kind"]): Promise<void> {
  const path = place.folder.entry(place.name);
  if (kind === "folder") await mkdir(path, FOLDER_MODE);
  else await (await open(path, "wx", FILE_MODE)).close();
}
