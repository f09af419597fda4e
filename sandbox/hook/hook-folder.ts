import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join, relative } from "node:path";
import { type Failure, fail, type Result } from "../../core/domain/failure.ts";
import { type FileStamp, fileStamp, isUnchanged } from "../program/file-stamp.ts";
import { openRegular } from "../program/regular-file.ts";
import { buildProgram, type ScriptProgram } from "../program/script-program.ts";
import { brokenCommandFile, parseCommandFile } from "./command-hook-file.ts";
import { type HookHeader, mentionsHook, parseHookHeader, unreadableHeader } from "./hook-header.ts";
import { type KnownHook, notFiredNotes, type ScriptHook } from "./known-hook.ts";

export type HookFolder = {
  /** The hooks in the order of running; at once, when nothing has changed since the last time. */
  hooks(): readonly KnownHook[] | Promise<readonly KnownHook[]>;
};

const NAME_PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENDINGS = [".ts", ".js"];
/** The header is looked for in so many bytes. */
const HEADER_BYTES = 8192;
const COMMAND_FILE_LIMIT_BYTES = 1024 * 1024;

export function isScriptFile(fileName: string): boolean {
  return ENDINGS.includes(extname(fileName)) && !/^\.|\.d\.ts$|\.test\.[tj]s$/.test(fileName);
}

export function isCommandFile(fileName: string): boolean {
  return extname(fileName) === ".json" && !fileName.startsWith(".");
}

function isPackage(folder: string, name: string): boolean {
  if (name.startsWith(".") || name === "node_modules") return false;
  try {
    return statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // A link to itself: a script of that name is shown as one that cannot be read.
    return false;
  }
}

/** The first bytes of a regular file as text. */
export async function readHead(file: string, limitBytes: number = HEADER_BYTES): Promise<string> {
  const { handle } = await openRegular(file);
  await using opened = handle;
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(limitBytes), 0, limitBytes, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

/** `guard/guard.ts` is the hook "guard", `guard/log.ts` the hook "guard/log". */
function namesOf(file: string, hooksDir: string): { readonly name: string; readonly group: string } {
  const stem = basename(file, extname(file));
  const group = relative(hooksDir, dirname(file));
  if (group === "") return { name: stem, group: stem };
  return { name: stem === group ? group : `${group}/${stem}`, group };
}

function scriptHook(file: string, hooksDir: string, header: HookHeader): ScriptHook {
  let built: { readonly entry: FileStamp | undefined; readonly result: Result<ScriptProgram> } | undefined;
  let building: Promise<Result<ScriptProgram>> | undefined;

  function isCurrent(): boolean {
    if (!built) return false;
    // A failed build is tried again as soon as the file itself changes; which import was at fault is not known.
    return built.result.ok
      ? built.result.value.inputs.every(isUnchanged)
      : built.entry !== undefined && isUnchanged(built.entry);
  }

  async function build(): Promise<Result<ScriptProgram>> {
    const entry = fileStamp(file);
    const result = await buildProgram(file);
    built = { entry, result };
    building = undefined;
    return result;
  }

  return {
    kind: "script",
    ...namesOf(file, hooksDir),
    file,
    folder: dirname(file),
    header,
    notes: notFiredNotes(header.points),
    failure: () => header.failure ?? (built && !built.result.ok ? built.result.failure : undefined),
    async program() {
      if (header.failure) return { ok: false, failure: header.failure };
      if (built && isCurrent()) return built.result;
      building ??= build();
      return building;
    },
  };
}

function unreadable(file: string, cause: unknown): Failure {
  return fail("invalid", `${basename(file)} cannot be read`, { hint: `look at ${file}`, cause }).failure;
}

function nameFailure(file: string, hooksDir: string): Failure | undefined {
  const parts = relative(hooksDir, file)
    .replace(/\.\w+$/, "")
    .split("/");
  if (parts.every((part) => NAME_PART.test(part))) return undefined;
  return fail("invalid", `${basename(file)}: a hook's name has letters, digits, ".", "_" and "-", at most 64`).failure;
}

/** Reads one script's header. Undefined for a module of a package: it lies there to be imported. */
export async function readScriptHook(file: string, hooksDir: string): Promise<ScriptHook | undefined> {
  try {
    const head = await readHead(file);
    if (dirname(file) !== hooksDir && !mentionsHook(head)) return undefined;
    const header = parseHookHeader(basename(file), head, dirname(file));
    return scriptHook(file, hooksDir, { ...header, failure: nameFailure(file, hooksDir) ?? header.failure });
  } catch (cause) {
    return scriptHook(file, hooksDir, unreadableHeader(unreadable(file, cause)));
  }
}

/** Reads the commands of a settings file; one broken hook for a file that cannot be read. */
export async function readCommandHooks(file: string): Promise<readonly KnownHook[]> {
  try {
    const text = await readHead(file, COMMAND_FILE_LIMIT_BYTES);
    const parsed = parseCommandFile(file, text);
    return parsed.ok ? parsed.value : [brokenCommandFile(file, parsed.failure)];
  } catch (cause) {
    return [brokenCommandFile(file, unreadable(file, cause))];
  }
}

/** Commands of one file stay in the order in which they stand there. */
function orderName(hook: KnownHook): string {
  return hook.kind === "command" ? hook.group : hook.name;
}

function inOrder(left: KnownHook, right: KnownHook): number {
  const [one, other] = [orderName(left), orderName(right)];
  const byName = one < other ? -1 : one > other ? 1 : 0;
  const byFile = left.file < right.file ? -1 : left.file > right.file ? 1 : 0;
  return left.header.priority - right.header.priority || byName || byFile;
}

/** Two hooks of one name cannot be told apart by people: the later one is broken until one of them is renamed. */
function markDoubles(hooks: readonly KnownHook[]): KnownHook[] {
  const owners = new Map<string, KnownHook>();
  return hooks.map((hook) => {
    const owner = owners.get(hook.name);
    owners.set(hook.name, owner ?? hook);
    if (!owner) return hook;
    const double = fail("conflict", `${basename(hook.file)}: ${basename(owner.file)} has the same name`, {
      hint: "rename one of them",
    });
    const failure = () => double.failure;
    return hook.kind === "script" ? { ...hook, failure, program: async () => double } : { ...hook, failure };
  });
}

type Found = { readonly stamp: FileStamp; readonly hooks: readonly KnownHook[] };

/** Watches a folder of hooks by looking at it whenever somebody asks, which is never too late. */
export function hookFolder(hooksDir: string): HookFolder {
  /** The folder itself, and each package. */
  let folders: readonly FileStamp[] | undefined;
  let known = new Map<string, Found>();
  let ordered: readonly KnownHook[] = [];
  let scanning: Promise<readonly KnownHook[]> | undefined;

  async function readOne(file: string): Promise<readonly [string, Found] | undefined> {
    const stamp = fileStamp(file);
    if (!stamp) return undefined;
    const before = known.get(file);
    if (before?.stamp.mark === stamp.mark) return [file, before];
    if (isCommandFile(basename(file))) return [file, { stamp, hooks: await readCommandHooks(file) }];
    const hook = await readScriptHook(file, hooksDir);
    return [file, { stamp, hooks: hook ? [hook] : [] }];
  }

  /** Files of a package; what was known of it when it cannot be looked at, since guards must not vanish by that. */
  async function packageFiles(folder: string): Promise<readonly string[]> {
    const names = await readdir(folder).catch(() => undefined);
    if (names) return names.filter(isScriptFile).map((name) => join(folder, name));
    const before = [...known.keys()].filter((file) => dirname(file) === folder);
    // The folder itself stands for what nobody can look at: a broken hook of its name.
    return before.length > 0 ? before : [folder];
  }

  async function scan(): Promise<readonly KnownHook[]> {
    const top = fileStamp(hooksDir);
    const names = top ? await readdir(hooksDir).catch(() => undefined) : [];
    if (!names) return ordered;
    const packages = names.filter((name) => isPackage(hooksDir, name)).map((name) => join(hooksDir, name));
    const stamps = [top ?? [], ...packages.map((folder) => fileStamp(folder) ?? [])].flat();
    const own = names.filter((name) => isScriptFile(name) || isCommandFile(name)).map((name) => join(hooksDir, name));
    const files = [...own, ...(await Promise.all(packages.map(packageFiles))).flat()].sort();
    const read = await Promise.all(files.map(readOne));
    known = new Map(read.filter((entry) => entry !== undefined));
    ordered = markDoubles([...known.values()].flatMap(({ hooks }) => hooks).sort(inOrder));
    folders = stamps;
    return ordered;
  }

  function isCurrent(): boolean {
    if (!folders?.every(isUnchanged)) return false;
    if (folders.length === 0 && fileStamp(hooksDir)) return false;
    for (const { stamp } of known.values()) if (!isUnchanged(stamp)) return false;
    return true;
  }

  return {
    hooks() {
      if (scanning) return scanning;
      if (isCurrent()) return ordered;
      scanning = scan().finally(() => {
        scanning = undefined;
      });
      return scanning;
    },
  };
}
