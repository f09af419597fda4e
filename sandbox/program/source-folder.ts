import { realpath } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Esbuild from "esbuild";
import { isInFolder } from "../permission/grant.ts";
import { fileStamp } from "./file-stamp.ts";
import type { ImportMap } from "./import-map.ts";
import { hashOf, readSource, SOURCE_LIMIT_BYTES, type SourceFile } from "./source-file.ts";

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
const FILES_MAX = 256;
const NAMESPACE = "script";
const TYPES_NAMESPACE = "types";
/** Files that are imported as the text that they are. */
const TEXT_NAMESPACE = "text";
const LOADERS: Readonly<Record<string, Esbuild.Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".js": "js",
  ".mjs": "js",
  ".json": "json",
};
/** What `import.meta` becomes; each file that says it gets its own. */
export const META_NAME = "__clawdMeta";

/** What makes every file a module: one without imports and exports would be taken for CommonJS. */
const MODULE_MARK = "export {}; ";

/** What `node:` modules there are; each is a part of one of the prelude's libraries. */
const NODE_MODULES: readonly string[] = [
  ...["assert", "assert/strict", "buffer", "events", "fs", "fs/promises"],
  ...["os", "path", "path/posix", "process", "url", "util", "util/types"],
];
/** What hands them out, in the text of a program. */
export const NODE_NAME = "__clawdNode";
const NODE_PREFIX = "node:";
const NODE_NAMESPACE = "node";

/** The file's own `import.meta`, and the text without a shebang line, both on the lines they were on. */
function dress(text: string, path: string, root: string, entry: string): { contents: string; movedBy: number } {
  const plain = text.replace(/^\ufeff/, "").replace(/^#!/, "//");
  const name = basename(path);
  const folder = dirname(`/${relative(root, path)}`);
  const url = pathToFileURL(join(folder, name)).href;
  const meta = JSON.stringify({ url, filename: join(folder, name), dirname: folder, main: path === entry });
  const resolveText = `(specifier) => new URL(specifier, ${JSON.stringify(url)}).href`;
  const saysMeta = /\bimport\s*\.\s*meta\b/.test(plain);
  const metaText = `const ${META_NAME} = Object.assign(Object.create(null), ${meta}, { resolve: ${resolveText} }); `;
  const prefix = MODULE_MARK + (saysMeta ? metaText : "");
  return { contents: prefix + plain, movedBy: prefix.length };
}

/** The type that an import asks its file to have; undefined when it asks for none, null for one that there is not. */
function askedLoader(attributes: Readonly<Record<string, string>>): Esbuild.Loader | undefined | null {
  const { type } = attributes;
  if (type === undefined) return undefined;
  return type === "json" || type === "text" ? type : null;
}

/**
 * Only the script's own folder can be imported from, by the real path too, and the few modules of Node that guests have;
 * nothing of a registry.
 * @param imports what words mean that are no paths
 */
export function sourceFolder(root: string, entry: string, imports: ImportMap): SourceFolder {
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

  const wrong = (text: string): Esbuild.OnResolveResult => ({ errors: [{ text }] });

  function nodeModule(path: string): Esbuild.OnResolveResult {
    const name = path.slice(NODE_PREFIX.length);
    if (NODE_MODULES.includes(name)) return { path: name, namespace: NODE_NAMESPACE };
    return wrong(`"${path}" cannot be imported: of Node there are ${NODE_MODULES.join(", ")}`);
  }

  async function onResolve({
    path,
    importer,
    with: attributes,
  }: Esbuild.OnResolveArgs): Promise<Esbuild.OnResolveResult> {
    if (path === ENTRY && importer.endsWith("<stdin>")) return named(entry);
    if (path.startsWith(TYPES_PREFIX)) return { path, namespace: TYPES_NAMESPACE };
    if (path.startsWith(NODE_PREFIX)) return nodeModule(path);
    const mapped = imports.resolve(path);
    if (mapped?.startsWith(NODE_PREFIX)) return nodeModule(mapped);
    if (mapped === undefined && !/^\.\.?\//.test(path))
      return wrong(`"${path}" cannot be imported: only files of the script's own folder can, as "./name.ts"`);
    const loader = askedLoader(attributes);
    if (loader === null) return wrong(`"${path}" cannot be imported as "${attributes.type}": there are json and text`);
    const at = mapped ?? resolve(root, dirname(importer), path);
    const found = loader === "text" ? await findText(at) : await findImport(at);
    if (!found) return wrong(`"${path}" does not exist`);
    if (!isInFolder(root, found)) return wrong(`"${path}" is outside the script's folder`);
    return loader === "text" ? { ...named(found), namespace: TEXT_NAMESPACE } : named(found);
  }

  async function findText(path: string): Promise<string | undefined> {
    if (fileStamp(path)) return realpath(path);
    missing.add(path);
    return undefined;
  }

  async function load(path: string, asText: boolean): Promise<Esbuild.OnLoadResult> {
    const { bytes, stamp } = await readSource(path);
    leftBytes -= bytes.length;
    if (leftBytes < 0 || files.size >= FILES_MAX)
      throw new Error(`more than ${SOURCE_LIMIT_BYTES} bytes or ${FILES_MAX} files with it`);
    files.set(path, { stamp, hash: hashOf(bytes) });
    const loader = LOADERS[extname(path)] ?? "js";
    const text = bytes.toString("utf8");
    if (asText) return { contents: text.replace(/^\ufeff/, ""), loader: "text" };
    if (loader === "json") return { contents: text, loader };
    const { contents, movedBy } = dress(text, path, root, entry);
    moved.set(path, movedBy);
    return { contents, loader };
  }

  const plugin: Esbuild.Plugin = {
    name: "source-folder",
    setup(build) {
      build.onResolve({ filter: /.*/ }, onResolve);
      build.onLoad({ filter: /.*/, namespace: TYPES_NAMESPACE }, () => ({ contents: "export {};", loader: "js" }));
      build.onLoad({ filter: /.*/, namespace: NODE_NAMESPACE }, ({ path }) => ({
        contents: `module.exports = ${NODE_NAME}(${JSON.stringify(path)});`,
        loader: "js",
      }));
      for (const namespace of [NAMESPACE, TEXT_NAMESPACE])
        build.onLoad({ filter: /.*/, namespace }, ({ path }) =>
          load(resolve(root, path), namespace === TEXT_NAMESPACE).catch((error: unknown) => {
            const why = error instanceof Error ? error.message : String(error);
            return { errors: [{ text: `cannot be read: ${why}` }] };
          }),
        );
    },
  };
  return { files, missing, moved, plugin };
}
