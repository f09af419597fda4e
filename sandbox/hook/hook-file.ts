import { basename, dirname, extname, relative } from "node:path";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { type FileStamp, fileStamp, isUnchanged } from "../program/file-stamp.ts";
import { openRegular } from "../program/regular-file.ts";
import { buildProgram, type ScriptProgram } from "../program/script-program.ts";
import { brokenCommandFile, parseCommandFile } from "./command-hook-file.ts";
import { type HookHeader, mentionsHook, parseHookHeader, unreadableHeader } from "./hook-header.ts";
import { type KnownHook, notFiredNotes, type ScriptHook } from "./known-hook.ts";

const NAME_PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENDINGS = [".ts", ".js"];
/** The header is looked for in so many bytes. */
const HEADER_BYTES = 8192;
const FOLDER_NAME = "hooks/";
const COMMAND_FILE_LIMIT_BYTES = 1024 * 1024;

export function isScriptFile(fileName: string): boolean {
  return ENDINGS.includes(extname(fileName)) && !/^\.|\.d\.ts$|\.test\.[tj]s$/.test(fileName);
}

export function isCommandFile(fileName: string): boolean {
  return extname(fileName) === ".json" && !fileName.startsWith(".");
}

/** The first bytes of a regular file as text. */
export async function readHead(file: string): Promise<string> {
  const { handle } = await openRegular(file);
  await using opened = handle;
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
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

/**
 * Stands for the hooks folder as a whole when guards may be in it that are not known: it denies every tool call. No file
 * gives a hook a name that ends with a slash, so no person has turned this one off.
 */
export function brokenFolder(hooksDir: string, failure: Failure): ScriptHook {
  const hook = scriptHook(hooksDir, hooksDir, unreadableHeader(failure));
  return { ...hook, name: FOLDER_NAME, group: FOLDER_NAME };
}

export function isFolderGuard(hook: KnownHook): boolean {
  return hook.name === FOLDER_NAME;
}

/** A whole settings file; never its beginning, since what is missing may be the guard. */
async function readCommandFile(file: string): Promise<Result<string>> {
  const { handle, info } = await openRegular(file);
  await using opened = handle;
  if (info.size > COMMAND_FILE_LIMIT_BYTES) {
    const hint = `make ${file} smaller, or move it away if it is no settings file`;
    return fail("invalid", `${basename(file)} has ${info.size} bytes; ${COMMAND_FILE_LIMIT_BYTES} are the limit`, {
      hint,
    });
  }
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(info.size), 0, info.size, 0);
  return ok(buffer.toString("utf8", 0, bytesRead));
}

/** Reads the commands of a settings file; one broken hook for a file that cannot be read, or not to its end. */
export async function readCommandHooks(file: string): Promise<readonly KnownHook[]> {
  try {
    const text = await readCommandFile(file);
    const parsed = text.ok ? parseCommandFile(file, text.value) : text;
    return parsed.ok ? parsed.value : [brokenCommandFile(file, parsed.failure)];
  } catch (cause) {
    return [brokenCommandFile(file, unreadable(file, cause))];
  }
}
