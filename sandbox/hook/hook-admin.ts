import { mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { HookAdmin, HookRow, HookTrial } from "../../core/domain/admin.ts";
import { type Failure, fail, failureToProto, ok, type Result } from "../../core/domain/failure.ts";
import type { HookEvent, HookPoint } from "../../core/domain/hook.ts";
import { fileStamp } from "./file-stamp.ts";
import { type HookFolder, type HookScript, isHookFile, readHookScript } from "./hook-folder.ts";
import { onErrorAt, readPoint } from "./hook-header.ts";
import type { Verdict } from "./hook-verdict.ts";

/** Largest hook script, bytes. */
const HOOK_LIMIT_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o700;
/** Console lines of a trial that are kept. */
const TRIAL_LINES_MAX = 200;

function hookRow({ name, file, header, failure }: HookScript): HookRow {
  const wrong = failure();
  const guards: HookPoint = header.points.includes("tool.before")
    ? "tool.before"
    : (header.points[0] ?? "message.received");
  return {
    name,
    points: [...header.points],
    priority: header.priority,
    timeoutMs: header.timeoutMs,
    onError: onErrorAt(header, guards),
    granted: [...header.granted],
    file,
    ...(wrong ? { failure: failureToProto(wrong) } : {}),
  };
}

/** What to try a script's verdict with. */
export type Trial = (script: HookScript, event: HookEvent, log: (line: string) => void) => Promise<Verdict>;

async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  // A name with a dot in front is no hook: a half-written file is never run.
  const draft = join(dirname(file), `.${basename(file)}.new`);
  await using handle = await open(draft, "w", 0o600);
  await handle.writeFile(bytes);
  await handle.sync();
  await rename(draft, file);
}

/** Looks at a file as if it lay in the folder already; nothing of it is executed. */
async function inspectFile(file: string, folder: string): Promise<Result<HookScript>> {
  if (!isHookFile(basename(file))) return fail("invalid", `${file} is neither a .ts nor a .js file`);
  const script = await readHookScript(file, folder);
  if (script.header.failure) return { ok: false, failure: script.header.failure };
  const program = await script.program();
  if (!program.ok) return program;
  if (program.value.inputs.length > 1) {
    return fail("invalid", `${basename(file)} imports other files, which would not come along`, {
      hint: `copy it with them into ${folder} yourself`,
    });
  }
  return ok(script);
}

function pointNamed(name: string, script: HookScript): Result<HookPoint> {
  const point = name === "" ? script.header.points[0] : readPoint(name);
  if (point && script.header.points.includes(point)) return ok(point);
  return fail("invalid", `hook "${script.name}" does not listen at "${name}"`, {
    hint: `it listens at ${script.header.points.join(", ") || "no point"}`,
  });
}

function notFound(name: string, scripts: readonly HookScript[]): Failure {
  const names = scripts.map((script) => script.name).join(", ");
  return fail("not_found", `there is no hook "${name}"`, {
    hint: names === "" ? "there are none" : `there are ${names}`,
  }).failure;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lists, adds, removes and tries out the scripts of a folder. */
export function hookAdmin(folder: string, scripts: HookFolder, tryOut: Trial): HookAdmin {
  async function find(name: string): Promise<Result<HookScript>> {
    const all = await scripts.scripts();
    const script = all.find((candidate) => candidate.name === name);
    return script ? ok(script) : { ok: false, failure: notFound(name, all) };
  }

  async function add(file: string): Promise<Result<HookRow>> {
    const target = join(folder, basename(file));
    if (target !== file) {
      const looked = await inspectFile(file, folder);
      if (!looked.ok) return looked;
      const taken = await find(looked.value.name);
      if (taken.ok || fileStamp(target)) {
        return fail("conflict", `there is a hook "${looked.value.name}" already`, {
          hint: `claw hook remove ${looked.value.name}, or rename the file`,
        });
      }
      try {
        const bytes = await readFile(file);
        if (bytes.length > HOOK_LIMIT_BYTES)
          return fail("invalid", `${file} has ${bytes.length} bytes; ${HOOK_LIMIT_BYTES} are the limit`);
        await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
        await writeWhole(target, bytes);
      } catch (cause) {
        return fail("unavailable", `${file} could not be copied to ${folder}`, {
          cause,
          hint: "look at the rights of both and at the free space",
        });
      }
    }
    const script = (await scripts.scripts()).find((candidate) => candidate.file === target);
    return script
      ? ok(hookRow(script))
      : fail("not_found", `there is no hook script ${target}`, { hint: "a hook is a .ts or .js file" });
  }

  async function remove(name: string): Promise<Result<void>> {
    const script = await find(name);
    if (!script.ok) return script;
    try {
      await unlink(script.value.file);
      return ok(undefined);
    } catch (cause) {
      return fail("unavailable", `${script.value.file} could not be removed`, {
        cause,
        hint: "look at its folder's rights",
      });
    }
  }

  async function test(name: string, at: string, value: JsonValue): Promise<Result<HookTrial>> {
    const script = await find(name);
    if (!script.ok) return script;
    const point = pointNamed(at, script.value);
    if (!point.ok) return point;
    if (!isObject(value))
      return fail("invalid", "a hook's value is an object", { hint: 'for instance {"tool":"shell","args":{}}' });
    const log: string[] = [];
    const event: HookEvent = {
      at: point.value,
      sessionId: "trial",
      turnId: "trial",
      callId: point.value === "message.received" ? "" : "trial",
      workspace: folder,
      value,
    };
    const { answer, because, ms } = await tryOut(script.value, event, (line) => {
      if (log.length < TRIAL_LINES_MAX) log.push(line);
    });
    return ok({ answer, because, ms, log });
  }

  return {
    async list() {
      const rows = (await scripts.scripts()).map(hookRow);
      return [...rows.filter((row) => !row.failure), ...rows.filter((row) => row.failure)];
    },
    add,
    remove,
    test,
  };
}
