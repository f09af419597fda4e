import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type * as Esbuild from "esbuild";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import { bundle } from "./bundler.ts";
import { type FileStamp, fileStamp, isUnchanged } from "./file-stamp.ts";
import { type ImportMap, readImportMap } from "./import-map.ts";
import { currentFile, hashOf, type SourceFile } from "./source-file.ts";
import { ENTRY, META_NAME, NODE_NAME, type SourceFolder, sourceFolder } from "./source-folder.ts";
import { GUEST_LABEL, placeInSource, type StackReader, stackReader } from "./stack-reader.ts";

/** A script made ready for an isolate. */
export type ScriptProgram = StackReader & {
  /** Lower-case hex SHA-256 over all its files, comments included: a header that grants less is another program. */
  readonly id: string;
  /** An expression whose value is an async function; see `ToGuest`. */
  readonly source: string;
  /** Every file that is part of it, as it was when read. */
  readonly inputs: readonly FileStamp[];
};

const BUILD_LIMIT_MS = 10_000;
/** Programs that are remembered. */
const KEPT_MAX = 64;

type Kept = {
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly missing: ReadonlySet<string>;
  /** The import map that it was made with. */
  readonly map: SourceFile | undefined;
  readonly program: ScriptProgram;
};

/** What was bundled last, by the script's real path, in the order of last use. */
const kept = new Map<string, Kept>();

function buildOptions(root: string, plugin: Esbuild.Plugin): Esbuild.BuildOptions {
  return {
    stdin: {
      contents: `import * as exported from "${ENTRY}"; __clawdTake(exported);`,
      resolveDir: root,
      sourcefile: "<stdin>",
    },
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    target: "es2024",
    platform: "neutral",
    charset: "utf8",
    sourcemap: "external",
    sourcesContent: false,
    outfile: join(root, "guest.js"),
    logLevel: "silent",
    tsconfigRaw: {},
    define: { "import.meta": META_NAME },
    plugins: [plugin],
  };
}

function brokenScript(entry: string, root: string, folder: SourceFolder, errors: readonly Esbuild.Message[]): Failed {
  const [first] = errors;
  const at = first?.location;
  const place = at && placeInSource(root, folder.moved, at.file, at.line, at.column);
  return fail("invalid", `${place ?? basename(entry)}: ${first?.text ?? "it cannot be bundled"}`, {
    hint: `mend ${entry}`,
  });
}

function idOf(root: string, files: ReadonlyMap<string, SourceFile>, map: SourceFile | undefined): string {
  const lines = [...files].map(([path, { hash }]) => `${hash} ${relative(root, path)}\n`).sort();
  if (map) lines.push(`${map.hash} import map\n`);
  return hashOf(Buffer.from(lines.join("")));
}

function programOf(
  root: string,
  folder: SourceFolder,
  imports: ImportMap,
  { code, map }: { readonly code: string; readonly map: string },
): ScriptProgram {
  return {
    id: idOf(root, folder.files, imports.file),
    // All on the first line, so that the lines of the source map still fit.
    source: `(async (__clawdTake, ${NODE_NAME}) => { "use strict"; ${code}\n})\n//# sourceURL=${GUEST_LABEL}`,
    inputs: [...folder.files.values(), ...(imports.file ? [imports.file] : [])].map(({ stamp }) => stamp),
    ...stackReader(map, root, folder.moved),
  };
}

function keep(entry: string, program: Kept): void {
  kept.delete(entry);
  kept.set(entry, program);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_MAX) return;
    kept.delete(oldest);
  }
}

/** The program as it was bundled last, when nothing of what went into it has changed since. */
async function unchangedProgram(entry: string, { file: map }: ImportMap): Promise<ScriptProgram | undefined> {
  const known = kept.get(entry);
  if (known?.map?.stamp.path !== map?.stamp.path || known?.map?.hash !== map?.hash) return undefined;
  if (!known || [...known.missing].some((path) => fileStamp(path) !== undefined)) return undefined;
  const { files, program } = known;
  if ([...files.values()].every(({ stamp }) => isUnchanged(stamp))) return program;
  const now = new Map<string, SourceFile>();
  for (const [path, { hash }] of files) {
    const file = await currentFile(path);
    if (file?.hash !== hash) return undefined;
    now.set(path, file);
  }
  const read = [...now.values(), ...(map ? [map] : [])];
  const again = { ...program, inputs: read.map(({ stamp }) => stamp) };
  keep(entry, { ...known, files: now, program: again });
  return again;
}

/**
 * Reads a script and everything it imports, and turns it into one text. Nothing of it is executed. A script of which no
 * file has changed is not bundled again.
 * @param importMap absolute; empty for the imports of a deno.json in its folder
 */
export async function buildProgram(
  file: string,
  importMap = "",
  limitMs = BUILD_LIMIT_MS,
): Promise<Result<ScriptProgram>> {
  const entry = await realpath(file).catch(() => undefined);
  if (entry === undefined) return fail("not_found", `there is no script ${file}`);
  const root = dirname(entry);
  const imports = await readImportMap(root, importMap);
  if (!imports.ok) return imports;
  const before = await unchangedProgram(entry, imports.value);
  if (before) return ok(before);
  const folder = sourceFolder(root, entry, imports.value);
  const bundled = await bundle(buildOptions(root, folder.plugin), limitMs);
  if (bundled.done) {
    const program = programOf(root, folder, imports.value, bundled);
    keep(entry, { files: folder.files, missing: folder.missing, map: imports.value.file, program });
    return ok(program);
  }
  if (bundled.stopped === undefined) return brokenScript(entry, root, folder, bundled.errors);
  const why =
    bundled.stopped === "late" ? `was not bundled within ${limitMs} ms` : "breaks the bundler: it is nested too deeply";
  return fail("exhausted", `${basename(file)} ${why}`, { hint: `mend ${entry}` });
}
