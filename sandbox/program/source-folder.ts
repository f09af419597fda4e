import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, extname, relative, resolve } from "node:path";
import type * as Esbuild from "esbuild";
import { isInFolder } from "../permission/grant.ts";
import { type FileStamp, fileStamp } from "./file-stamp.ts";
import { openRegular } from "./regular-file.ts";

/** A file that went into a program, and what was in it. */
export type SourceFile = { readonly stamp: FileStamp; readonly hash: string };

/** What a bundling read, and what it looked for. */
export type SourceFolder = {
  /** Absolute path → file. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** Names that would have been taken, had they been there. */
  readonly missing: ReadonlySet<string>;
  /** Columns by which the first line of a file was moved to the right. */
  readonly moved: ReadonlyMap<string, number>;
  readonly plugin: Esbuild.Plugin;
};

/** Name under which the bundle imports the script. */
export const ENTRY = "clawd:entry";
/** Prefix of the modules that have types only. */
const TYPES_PREFIX = "clawd:";
/** Largest program, bytes of all its files together. */
const SOURCE_LIMIT_BYTES = 1024 * 1024;
const FILES_MAX = 256;
const NAMESPACE = "script";
const TYPES_NAMESPACE = "types";
const LOADERS: Readonly<Record<string, Esbuild.Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".js": "js",
  ".mjs": "js",
  ".json": "json",
};
/** What `import.meta` becomes; each file that says it gets its own. */
export const META_NAME = "__clawdMeta";

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The content of a file that may be part of a program; throws with a text that goes on after its name. */
async function readSource(path: string): Promise<{ bytes: Buffer; stamp: FileStamp }> {
  const stamp = fileStamp(path);
  if (!stamp) throw new Error("no such file");
  const { handle, info } = await openRegular(path);
  await using file = handle;
  if (info.size > SOURCE_LIMIT_BYTES)
    throw new Error(`${info.size} bytes; a script has at most ${SOURCE_LIMIT_BYTES} with all it imports`);
  const buffer = Buffer.alloc(info.size);
  const { bytesRead } = await file.read(buffer, 0, info.size, 0);
  return { bytes: buffer.subarray(0, bytesRead), stamp };
}

/** Hash of what is in a file now; undefined when it cannot be read. */
export async function currentFile(path: string): Promise<SourceFile | undefined> {
  try {
    const { bytes, stamp } = await readSource(path);
    return { stamp, hash: hashOf(bytes) };
  } catch {
    return undefined;
  }
}

/** What makes every file a module: one without imports and exports would be taken for CommonJS. */
const MODULE_MARK = "export {}; ";

/** The file's own `import.meta`, and the text without a shebang line, both on the lines they were on. */
function dress(text: string, path: string, entry: string): { contents: string; movedBy: number } {
  const plain = text.replace(/^\ufeff/, "").replace(/^#!/, "//");
  const name = basename(path);
  const meta = { url: `file:///${name}`, filename: `/${name}`, dirname: "/", main: path === entry };
  const saysMeta = /\bimport\s*\.\s*meta\b/.test(plain);
  const prefix = MODULE_MARK + (saysMeta ? `const ${META_NAME} = ${JSON.stringify(meta)}; ` : "");
  return { contents: prefix + plain, movedBy: prefix.length };
}

/** Only the script's own folder can be imported from, by the real path too; nothing of Node, nothing of a registry. */
export function sourceFolder(root: string, entry: string): SourceFolder {
  const files = new Map<string, SourceFile>();
  const missing = new Set<string>();
  const moved = new Map<string, number>();
  let leftBytes = SOURCE_LIMIT_BYTES;

  /** Finds what a relative import names, as bundlers do; undefined when there is nothing. */
  async function findImport(path: string): Promise<string | undefined> {
    const stem = path.replace(/\.m?js$/, "");
    for (const candidate of [path, `${path}.ts`, `${path}.js`, `${stem}.ts`]) {
      if (!(extname(candidate) in LOADERS)) continue;
      if (fileStamp(candidate)) return realpath(candidate);
      missing.add(candidate);
    }
    return undefined;
  }

  // Files go by their names within the folder: the bundler writes them into the program, where the guest can read them.
  const named = (path: string) => ({ path: relative(root, path), namespace: NAMESPACE });

  async function onResolve({ path, importer }: Esbuild.OnResolveArgs): Promise<Esbuild.OnResolveResult> {
    if (path === ENTRY && importer.endsWith("<stdin>")) return named(entry);
    if (path.startsWith(TYPES_PREFIX)) return { path, namespace: TYPES_NAMESPACE };
    if (!/^\.\.?\//.test(path)) {
      const text = `"${path}" cannot be imported: only files of the script's own folder can, as "./name.ts"`;
      return { errors: [{ text }] };
    }
    const found = await findImport(resolve(root, dirname(importer), path));
    if (!found) return { errors: [{ text: `"${path}" does not exist` }] };
    if (!isInFolder(root, found)) return { errors: [{ text: `"${path}" is outside the script's folder` }] };
    return named(found);
  }

  async function load(path: string): Promise<Esbuild.OnLoadResult> {
    const { bytes, stamp } = await readSource(path);
    leftBytes -= bytes.length;
    if (leftBytes < 0 || files.size >= FILES_MAX)
      throw new Error(`more than ${SOURCE_LIMIT_BYTES} bytes or ${FILES_MAX} files with it`);
    files.set(path, { stamp, hash: hashOf(bytes) });
    const loader = LOADERS[extname(path)] ?? "js";
    const text = bytes.toString("utf8");
    if (loader === "json") return { contents: text, loader };
    const { contents, movedBy } = dress(text, path, entry);
    moved.set(path, movedBy);
    return { contents, loader };
  }

  const plugin: Esbuild.Plugin = {
    name: "source-folder",
    setup(build) {
      build.onResolve({ filter: /.*/ }, onResolve);
      build.onLoad({ filter: /.*/, namespace: TYPES_NAMESPACE }, () => ({ contents: "export {};", loader: "js" }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) =>
        load(resolve(root, path)).catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          return { errors: [{ text: `cannot be read: ${why}` }] };
        }),
      );
    },
  };
  return { files, missing, moved, plugin };
}
