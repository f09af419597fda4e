import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { prefixOf } from "./document-table.ts";

/** What is indexed: what a lost store is made anew from. */
export type SourceList = {
  /** Real paths, none inside another. */
  readonly folders: readonly string[];
  /** Names of plugin sources. */
  readonly sources: readonly string[];
};

const EMPTY: SourceList = { folders: [], sources: [] };

/** Empty without a readable list. The list of folders that earlier versions kept counts until there is a newer one. */
export async function readSourceList(dir: string): Promise<SourceList> {
  const list = await readJson(join(dir, "sources.json"));
  if (list !== undefined)
    return { folders: textsOf(fieldOf(list, "folders")), sources: textsOf(fieldOf(list, "sources")) };
  return { ...EMPTY, folders: textsOf(await readJson(join(dir, "folders.json"))) };
}

/** Durable on return. Callers do not overlap. */
export async function writeSourceList(dir: string, list: SourceList): Promise<Result<void>> {
  const file = join(dir, "sources.json");
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    {
      await using handle = await open(`${file}.new`, "w", 0o600);
      await handle.writeFile(JSON.stringify(list, undefined, 2));
      await handle.sync();
    }
    await rename(`${file}.new`, file);
    await rm(join(dir, "folders.json"), { force: true });
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `memory cannot write ${file}: ${String(cause)}`, {
      hint: "check its owner and the free space",
      cause,
    });
  }
}

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

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: "folders" | "sources"): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}
