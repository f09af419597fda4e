import { open, readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { type Failure, fail, type Result } from "../../core/domain/failure.ts";
import { type FileStamp, fileStamp, isUnchanged } from "./file-stamp.ts";
import { type HookHeader, parseHookHeader } from "./hook-header.ts";
import { buildProgram, type ScriptProgram } from "./script-program.ts";

/** A hook script as it lies in the folder. */
export type HookScript = {
  /** The file name without its ending. */
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  readonly header: HookHeader;
  /** What is wrong with it, as far as is known: its header, or what came of the last attempt to bundle it. */
  failure(): Failure | undefined;
  /** Bundles it, on the first call and after a change of any of its files. Fails for one that is broken. */
  program(): Promise<Result<ScriptProgram>>;
};

export type HookFolder = {
  /** The hooks in the order of running; at once, when nothing has changed since the last time. */
  scripts(): readonly HookScript[] | Promise<readonly HookScript[]>;
};

const HOOK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENDINGS = [".ts", ".js"];
/** The header is looked for in so many bytes. */
const HEADER_BYTES = 8192;

export function isHookFile(fileName: string): boolean {
  return ENDINGS.includes(extname(fileName)) && !/^\.|\.d\.ts$|\.test\.[tj]s$/.test(fileName);
}

export function hookName(file: string): string {
  return basename(file, extname(file));
}

/** The first bytes of a file as text. */
async function readHead(file: string): Promise<string> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function hookScript(file: string, header: HookHeader): HookScript {
  const name = hookName(file);
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
    name,
    file,
    header,
    failure: () => header.failure ?? (built && !built.result.ok ? built.result.failure : undefined),
    async program() {
      if (header.failure) return { ok: false, failure: header.failure };
      if (built && isCurrent()) return built.result;
      building ??= build();
      return building;
    },
  };
}

/** Reads one hook file's header. */
export async function readHookScript(file: string, folder: string): Promise<HookScript> {
  const name = basename(file);
  try {
    const header = parseHookHeader(name, await readHead(file), folder);
    const badName = HOOK_NAME.test(hookName(file))
      ? undefined
      : fail("invalid", `${name}: a hook's name has letters, digits, ".", "_" and "-", at most 64`).failure;
    return hookScript(file, { ...header, failure: badName ?? header.failure });
  } catch (cause) {
    const header = parseHookHeader(name, "", folder);
    return hookScript(file, {
      ...header,
      failure: fail("invalid", `${name} cannot be read`, { hint: `look at ${file}`, cause }).failure,
    });
  }
}

function inOrder(left: HookScript, right: HookScript): number {
  const byName = left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
  return left.header.priority - right.header.priority || byName || (left.file < right.file ? -1 : 1);
}

/** Two files of one name cannot be told apart by people: the later one is broken until one of them is renamed. */
function markDoubles(scripts: readonly HookScript[]): HookScript[] {
  const owners = new Map<string, HookScript>();
  return scripts.map((script) => {
    const owner = owners.get(script.name);
    owners.set(script.name, owner ?? script);
    if (!owner) return script;
    const double = fail("conflict", `${basename(script.file)}: ${basename(owner.file)} has the same name`, {
      hint: "rename one of them",
    });
    return { ...script, failure: () => double.failure, program: async () => double };
  });
}

/** Watches a folder of hook scripts by looking at it whenever somebody asks, which is never too late. */
export function hookFolder(folder: string): HookFolder {
  let folderStamp: FileStamp | undefined;
  let known = new Map<string, { readonly stamp: FileStamp; readonly script: HookScript }>();
  let ordered: readonly HookScript[] = [];
  let scanning: Promise<readonly HookScript[]> | undefined;

  async function readOne(
    file: string,
  ): Promise<readonly [string, { stamp: FileStamp; script: HookScript }] | undefined> {
    const stamp = fileStamp(file);
    if (!stamp) return undefined;
    const before = known.get(file);
    if (before?.stamp.mark === stamp.mark) return [file, before];
    return [file, { stamp, script: await readHookScript(file, folder) }];
  }

  async function scan(): Promise<readonly HookScript[]> {
    const stamp = fileStamp(folder);
    const names = stamp ? await readdir(folder).catch(() => undefined) : [];
    // Guards must not vanish because a look failed: what was known holds, and the next event looks again.
    if (!names) return ordered;
    const files = names.filter(isHookFile).sort();
    const read = await Promise.all(files.map((name) => readOne(join(folder, name))));
    known = new Map(read.filter((entry) => entry !== undefined));
    ordered = markDoubles([...known.values()].map(({ script }) => script).sort(inOrder));
    folderStamp = stamp;
    return ordered;
  }

  function isCurrent(): boolean {
    if (fileStamp(folder)?.mark !== folderStamp?.mark) return false;
    for (const { stamp } of known.values()) if (!isUnchanged(stamp)) return false;
    return true;
  }

  return {
    scripts() {
      if (scanning) return scanning;
      if (isCurrent()) return ordered;
      scanning = scan().finally(() => {
        scanning = undefined;
      });
      return scanning;
    },
  };
}
