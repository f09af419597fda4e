import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { writeTextDurably } from "../vector/durable-file.ts";
import { prefixOf } from "./document-table.ts";

/** What is indexed: what a lost store is made anew from. */
export type SourceList = {
  /** Real paths, none inside another. */
  readonly folders: readonly string[];
  /** Names of plugin sources. */
  readonly sources: readonly string[];
};

export const EMPTY_LIST: SourceList = { folders: [], sources: [] };

/**
 * `<dir>/sources.json`. Nobody else writes it: it is read once, and kept in memory from then on. What happens to the file
 * meanwhile changes nothing, and the next writing puts it back.
 */
export type SourceListFile = {
  /** The list; how it was lost when there is none that can be read: no file, or a damaged one. */
  read(): Promise<SourceList | "missing" | "damaged">;
  /** This is the list, on disk with the next writing. A damaged file is kept as `sources.json.aside`. */
  assume(list: SourceList): Promise<void>;
  /** Durable on return. Calls do not overlap. */
  write(list: SourceList): Promise<Result<void>>;
  isOnDisk(): boolean;
};

export function openSourceList(dir: string): SourceListFile {
  const file = join(dir, "sources.json");
  let known: Promise<SourceList | "missing" | "damaged"> | undefined;

  async function read(): Promise<SourceList | "missing" | "damaged"> {
    known ??= readList(dir, file);
    return known;
  }

  return {
    read,
    async assume(list) {
      // It may still say something to a person. Where it cannot be renamed it is written over.
      if ((await read()) === "damaged") await rename(file, `${file}.aside`).catch(() => undefined);
      known = Promise.resolve(list);
    },
    async write(list) {
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeTextDurably(file, JSON.stringify(list, undefined, 2));
        await rm(join(dir, "folders.json"), { force: true });
      } catch (cause) {
        return fail("unavailable", `memory cannot write ${file}: ${String(cause)}`, {
          hint: "check its owner and the free space",
          cause,
        });
      }
      known = Promise.resolve(list);
      return ok(undefined);
    },
    isOnDisk: () => existsSync(file),
  };
}

/** The list of folders that earlier versions kept counts until there is a newer one. */
async function readList(dir: string, file: string): Promise<SourceList | "missing" | "damaged"> {
  const list = await readJson(file);
  if (list === undefined) {
    const folders = await readJson(join(dir, "folders.json"));
    return folders === undefined ? "missing" : isTexts(folders) ? { ...EMPTY_LIST, folders } : "damaged";
  }
  if (typeof list !== "object" || list === null) return "damaged";
  const { folders, sources } = list as Partial<Record<"folders" | "sources", unknown>>;
  return isTexts(folders) && isTexts(sources) ? { folders, sources } : "damaged";
}

/** Undefined when there is no such file, null when it cannot be read as what it should be. */
async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) ?? null;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "ENOENT" ? undefined : null;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** The list that these sources of documents came from. */
export function listOfSources(names: readonly string[], notListed: string): SourceList {
  const folders = names.filter((name) => name.startsWith(FOLDER)).map((name) => name.slice(FOLDER.length));
  const sources = names.filter((name) => !name.startsWith(FOLDER) && name !== notListed).sort();
  return folders.reduce(withFolder, { folders: [], sources });
}

const FOLDER = "folder:";

/** A folder inside a listed one adds nothing; one around listed ones takes their place. */
export function withFolder(list: SourceList, folder: string): SourceList {
  if (rootOf(list, folder) !== undefined) return list;
  const outside = list.folders.filter((other) => !prefixOf(other).startsWith(prefixOf(folder)));
  return { ...list, folders: [...outside, folder].sort() };
}

export function withoutFolder(list: SourceList, folder: string): SourceList {
  return { ...list, folders: list.folders.filter((other) => other !== folder) };
}

export function withSource(list: SourceList, name: string): SourceList {
  return list.sources.includes(name) ? list : { ...list, sources: [...list.sources, name].sort() };
}

export function withoutSource(list: SourceList, name: string): SourceList {
  return { ...list, sources: list.sources.filter((other) => other !== name) };
}

/** The listed folder that this one is or lies in. */
export function rootOf(list: SourceList, folder: string): string | undefined {
  return list.folders.find((other) => prefixOf(folder).startsWith(prefixOf(other)));
}
