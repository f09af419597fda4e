import { cp, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { fileStamp } from "../program/file-stamp.ts";
import { isCommandFile, isScriptFile, readCommandHooks, readHead, readScriptHook } from "./hook-file.ts";
import { mentionsHook } from "./hook-header.ts";
import type { KnownHook, ScriptHook } from "./known-hook.ts";

const OWNER_ONLY = 0o700;
/** What one `add` puts into the folder at most. */
const FILES_MAX = 200;
const BYTES_MAX = 8 * 1024 * 1024;

/** What is to be put into the hooks folder: files below `from`, which stand at the same places below `to`. */
export type Placing = {
  readonly from: string;
  /** Absolute; the hooks folder itself for one file, else a package folder in it. */
  readonly to: string;
  /** Relative to `from`. */
  readonly files: readonly string[];
  /** How many of the files are hooks. */
  readonly hookFiles: number;
};

/** Why a hook cannot be taken, as far as that shows without running it. */
async function soundScript(script: ScriptHook): Promise<Result<readonly string[]>> {
  if (script.header.failure) return { ok: false, failure: script.header.failure };
  const program = await script.program();
  return program.ok ? ok(program.value.inputs.map(({ path }) => path)) : program;
}

async function placeScript(file: string, hooksDir: string): Promise<Result<Placing>> {
  // Read as one of the hooks folder: there a file is always a hook.
  const script = await readScriptHook(file, dirname(file));
  if (!script) return fail("invalid", `${file} is no hook`);
  const inputs = await soundScript(script);
  if (!inputs.ok) return inputs;
  if (inputs.value.length === 1)
    return ok({ from: dirname(file), to: hooksDir, files: [basename(file)], hookFiles: 1 });
  const entry = inputs.value.find((path) => basename(path) === basename(file)) ?? file;
  const from = dirname(entry);
  for (const path of inputs.value) {
    if (path !== entry && isScriptFile(basename(path)) && mentionsHook(await readHead(path)))
      return fail("invalid", `${basename(file)} imports ${relative(from, path)}, which is a hook itself`, {
        hint: `add the folder ${from} as a package, or move what both need into a file of its own`,
      });
  }
  const to = join(hooksDir, basename(file, extname(file)));
  return ok({ from, to, files: inputs.value.map((path) => relative(from, path)), hookFiles: 1 });
}

/** All files of a folder but hidden ones and installed modules. */
async function filesOf(folder: string): Promise<Result<readonly string[]>> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (path.split("/").some((part) => part.startsWith(".") || part === "node_modules")) continue;
    if (entry.isFile()) files.push(path);
    if (files.length > FILES_MAX)
      return fail("invalid", `${folder} has more than ${FILES_MAX} files`, { hint: "add only the folder of the hook" });
  }
  return ok(files.sort());
}

async function placePackage(folder: string, hooksDir: string): Promise<Result<Placing>> {
  const files = await filesOf(folder);
  if (!files.ok) return files;
  const scripts = files.value.filter((path) => !path.includes("/") && isScriptFile(path));
  // Read as a package of its parent: what does not say that it is a hook is a module.
  const hooks = (await Promise.all(scripts.map((path) => readScriptHook(join(folder, path), dirname(folder))))).filter(
    (hook) => hook !== undefined,
  );
  if (hooks.length === 0)
    return fail("invalid", `${folder} has no hook in it`, { hint: "a hook is a .ts or .js file with a @hook header" });
  for (const hook of hooks) {
    const sound = await soundScript(hook);
    if (!sound.ok) return sound;
  }
  return ok({ from: folder, to: join(hooksDir, basename(folder)), files: files.value, hookFiles: hooks.length });
}

async function placeCommands(file: string, hooksDir: string): Promise<Result<Placing>> {
  const hooks = await readCommandHooks(file);
  const broken = hooks.map((hook) => hook.failure()).find((failure) => failure !== undefined);
  if (broken) return { ok: false, failure: broken };
  if (hooks.length === 0)
    return fail("invalid", `${file} has no hooks in it`, { hint: 'it begins with {"hooks": {"PreToolUse": […]}}' });
  return ok({ from: dirname(file), to: hooksDir, files: [basename(file)], hookFiles: 1 });
}

/** Looks at what a person wants to add as if it lay in the folder already; nothing of it is executed. */
export async function planPlacing(source: string, hooksDir: string): Promise<Result<Placing>> {
  try {
    if ((await stat(source)).isDirectory()) return await placePackage(source, hooksDir);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? "there is no such file or folder" : String(cause);
    return fail("not_found", `${source} cannot be looked at: ${why}`, {
      cause,
      hint: "look at its name and its rights",
    });
  }
  if (isCommandFile(basename(source))) return placeCommands(source, hooksDir);
  if (isScriptFile(basename(source))) return placeScript(source, hooksDir);
  return fail("invalid", `${source} is neither a .ts nor a .js file, nor a .json file with commands, nor a folder`);
}

/** Paths in the hooks folder that come to be; all files of a package are one. */
export function placesOf({ to, files }: Placing, hooksDir: string): readonly string[] {
  return to === hooksDir ? files.map((path) => join(to, path)) : [to];
}

async function copyWhole(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: OWNER_ONLY });
  await cp(from, to, { dereference: true });
  await using handle = await open(to, "r");
  await handle.sync();
}

/** Copies everything beside its place and moves it there at once: a half-written hook is never run. */
export async function place(placing: Placing, hooksDir: string): Promise<Result<void>> {
  const { from, to, files } = placing;
  const single = to === hooksDir;
  const draft = join(hooksDir, `.${basename(single ? (files[0] ?? "") : to)}.new`);
  try {
    const sizes = await Promise.all(files.map(async (path) => (await stat(join(from, path))).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > BYTES_MAX)
      return fail("invalid", `${from} has ${bytes} bytes of files; ${BYTES_MAX} are the limit for a hook`);
    await mkdir(hooksDir, { recursive: true, mode: OWNER_ONLY });
    await rm(draft, { recursive: true, force: true });
    for (const path of files) await copyWhole(join(from, path), single ? draft : join(draft, path));
    await rename(draft, single ? join(to, files[0] ?? "") : to);
    return ok(undefined);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    return fail("unavailable", `${from} could not be copied to ${hooksDir}`, {
      cause,
      hint: "look at the rights of both and at the free space",
    });
  }
}

/** Keeps the types for editors beside the hooks, in the form of this version. */
export async function placeTypes(typesFile: string, hooksDir: string): Promise<Result<void>> {
  const target = join(hooksDir, "hooks.d.ts");
  try {
    const types = await readFile(typesFile);
    if (fileStamp(target) && types.equals(await readFile(target))) return ok(undefined);
    await copyWhole(typesFile, `${target}.new`);
    await rename(`${target}.new`, target);
    return ok(undefined);
  } catch (cause) {
    return fail("unavailable", `${target} could not be written`, { cause });
  }
}

/** What is removed for a name: one hook's file, or a whole package or settings file. */
export function placeNamed(name: string, hooks: readonly KnownHook[], hooksDir: string): string | undefined {
  const hook = hooks.find((candidate) => candidate.name === name);
  const group = hooks.filter((candidate) => candidate.group === (hook?.group ?? name));
  const first = group[0];
  if (!first) return undefined;
  // A broken settings file is one hook with the file's own name.
  if (first.kind === "command") return hook && hook.name !== hook.group ? undefined : first.file;
  const inPackage = dirname(first.file) !== hooksDir;
  return inPackage && (!hook || group.length === 1) ? dirname(first.file) : hook?.file;
}
