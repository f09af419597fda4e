import { createHash } from "node:crypto";
import { open, realpath } from "node:fs/promises";
import { SourceMap } from "node:module";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type * as Esbuild from "esbuild";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { isInFolder } from "../permission/grant.ts";
import { type FileStamp, fileStamp } from "./file-stamp.ts";
import type { GuestError } from "./guest-protocol.ts";
import { showable } from "./guest-words.ts";

/** A script made ready for an isolate. */
export type ScriptProgram = {
  /** Hash of `source`. */
  readonly id: string;
  /** An expression whose value is an async function; see `ToGuest`. */
  readonly source: string;
  /** Every file that is part of it, as it was when read. */
  readonly inputs: readonly FileStamp[];
  /** One line about an error of the guest's, and where in the script's own files it was; never a path of this machine. */
  explain(error: GuestError): ErrorText;
  /** The same for a stack as text. */
  explainStack(stack: string): ErrorText;
};

/** `where` is "file.ts:line:column", empty when it is not known; `full` has a stack. */
export type ErrorText = { readonly line: string; readonly where: string; readonly full: string };

/** Largest file that may be part of a script, bytes. */
const SOURCE_LIMIT_BYTES = 1024 * 1024;
const BUILD_LIMIT_MS = 10_000;
const ENTRY = "clawd:entry";
const NAMESPACE = "script";
const GUEST_LABEL = "clawd:guest";
const LOADERS: Readonly<Record<string, Esbuild.Loader>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".js": "js",
  ".mjs": "js",
  ".json": "json",
};
const STACK_LINES_MAX = 10;

async function readSource(path: string, inputs: Map<string, FileStamp>): Promise<string> {
  const stamp = fileStamp(path);
  if (!stamp) throw new Error("no such file");
  await using file = await open(path, "r");
  const info = await file.stat();
  if (!info.isFile()) throw new Error("not a regular file");
  if (info.size > SOURCE_LIMIT_BYTES)
    throw new Error(`${info.size} bytes; a script's files have at most ${SOURCE_LIMIT_BYTES}`);
  inputs.set(path, stamp);
  return file.readFile("utf8");
}

/** Finds what a relative import names, as bundlers do; undefined when there is nothing. */
async function findImport(path: string): Promise<string | undefined> {
  const stem = path.replace(/\.m?js$/, "");
  for (const candidate of [path, `${path}.ts`, `${path}.js`, `${stem}.ts`]) {
    if (extname(candidate) in LOADERS && fileStamp(candidate)) return realpath(candidate);
  }
  return undefined;
}

/** Only the script's own folder can be imported from, by the real path too; nothing of Node, nothing of a registry. */
function folderOnly(root: string, entry: string, inputs: Map<string, FileStamp>): Esbuild.Plugin {
  return {
    name: "folder-only",
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ path, importer, kind }) => {
        if (path === ENTRY && kind === "import-statement" && importer.endsWith("<stdin>"))
          return { path: entry, namespace: NAMESPACE };
        if (!/^\.\.?\//.test(path)) {
          return {
            errors: [
              { text: `"${path}" cannot be imported: only files of the script's own folder can, as "./name.ts"` },
            ],
          };
        }
        const found = await findImport(resolve(dirname(importer), path));
        if (!found) return { errors: [{ text: `"${path}" does not exist` }] };
        if (!isInFolder(root, found)) return { errors: [{ text: `"${path}" is outside the script's folder` }] };
        return { path: found, namespace: NAMESPACE };
      });
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        try {
          return { contents: await readSource(path, inputs), loader: LOADERS[extname(path)] ?? "js" };
        } catch (error) {
          return { errors: [{ text: `cannot be read: ${error instanceof Error ? error.message : String(error)}` }] };
        }
      });
    },
  };
}

function buildOptions(
  root: string,
  entry: string,
  inputs: Map<string, FileStamp>,
): Esbuild.BuildOptions & { write: false } {
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
    write: false,
    logLevel: "silent",
    tsconfigRaw: {},
    define: { "import.meta": JSON.stringify({ url: `file:///${basename(entry)}`, main: true }) },
    plugins: [folderOnly(root, entry, inputs)],
  };
}

function nameFor(root: string, source: string): string {
  return relative(root, resolve(root, source.replace(/^script:/, "")));
}

function buildFailure(entry: string, root: string, cause: unknown): Failure {
  const [first] = (cause as Partial<Esbuild.BuildFailure>).errors ?? [];
  const at = first?.location;
  const where = at && at.file !== "<stdin>" ? `${nameFor(root, at.file)}:${at.line}:${at.column + 1}` : basename(entry);
  return {
    code: "invalid",
    message: `${where}: ${first?.text ?? (cause instanceof Error ? cause.message : String(cause))}`,
    hint: `mend ${entry}`,
    cause,
  };
}

/** Turns positions of the bundle into those of the script's files, and drops the frames of the prelude. */
function stackReader(map: SourceMap, root: string): (stack: string) => string[] {
  const position = (line: string, column: string): string | undefined => {
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) return undefined;
    // SourceMap reads names as URLs, and so escapes them.
    const source = decodeURIComponent(entry.originalSource);
    if (source.includes("<stdin>")) return undefined;
    return `${nameFor(root, source)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
  return (stack) => {
    const frames: string[] = [];
    for (const line of stack.split("\n")) {
      const at = /^\s+at (?:(?:async )?([\w$.<>[\] ]+) \()?.*clawd:guest:(\d+):(\d+)\)?$/.exec(line);
      const found = at && position(at[2] ?? "", at[3] ?? "");
      if (found && frames.length < STACK_LINES_MAX)
        frames.push(at[1] && at[1] !== "eval" ? `    at ${at[1]} (${found})` : `    at ${found}`);
    }
    return frames;
  };
}

function explainer(map: SourceMap, root: string): Pick<ScriptProgram, "explain" | "explainStack"> {
  const readFrames = stackReader(map, root);
  const text = (line: string, stack: string): ErrorText => {
    const frames = readFrames(stack);
    const where = /([^\s(]+:\d+:\d+)\)?$/.exec(frames[0] ?? "")?.[1] ?? "";
    return { line: showable(line), where: showable(where), full: showable([line, ...frames].join("\n")) };
  };
  return {
    explain: ({ name, message, stack }) => text(message === "" ? name : `${name}: ${message}`, stack),
    explainStack: (stack) => text(stack.split(/\n\s+at /)[0] ?? "", stack),
  };
}

async function timed<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  const { promise, resolve: giveUp } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => giveUp(undefined), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a script and everything it imports, and turns it into one text. Nothing of it is executed. */
export async function buildProgram(file: string): Promise<Result<ScriptProgram>> {
  const entry = await realpath(file).catch(() => undefined);
  if (entry === undefined) return fail("not_found", `there is no script ${file}`);
  const root = dirname(entry);
  const inputs = new Map<string, FileStamp>();
  try {
    // Loaded on first need: the daemon starts without it.
    const esbuild = await import("esbuild");
    const built = await timed(esbuild.build(buildOptions(root, entry, inputs)), BUILD_LIMIT_MS);
    if (!built) return fail("timed_out", `${basename(file)} was not bundled within ${BUILD_LIMIT_MS} ms`);
    const code = built.outputFiles.find((output) => output.path.endsWith(".js"))?.text ?? "";
    const map = built.outputFiles.find((output) => output.path.endsWith(".map"))?.text ?? "{}";
    // All on the first line, so that the lines of the source map still fit.
    const source = `(async (__clawdTake) => { "use strict"; ${code}\n})\n//# sourceURL=${GUEST_LABEL}`;
    const id = createHash("sha256").update(source).digest("hex");
    return ok({ id, source, inputs: [...inputs.values()], ...explainer(new SourceMap(JSON.parse(map)), root) });
  } catch (cause) {
    return { ok: false, failure: buildFailure(entry, root, cause) };
  }
}
