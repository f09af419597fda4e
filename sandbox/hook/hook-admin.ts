import { rm } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import type { HookAdmin, HookRow, HookTrial } from "../../core/domain/admin.ts";
import { type Failed, type Failure, fail, failureToProto, ok, type Result } from "../../core/domain/failure.ts";
import type { HookEvent, HookPoint, HookReply } from "../../core/domain/hook.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { fileStamp } from "../program/file-stamp.ts";
import { isFolderGuard } from "./hook-file.ts";
import { HOOKS_MAX, type HookFolder } from "./hook-folder.ts";
import { onErrorAt, readPoint } from "./hook-header.ts";
import { place, placeNamed, placesOf, placeTypes, planPlacing } from "./hook-placing.ts";
import type { HookStates } from "./hook-states.ts";
import type { KnownHook } from "./known-hook.ts";

/** Console lines of a trial that are kept. */
const TRIAL_LINES_MAX = 200;

/** What to try a hook's verdict with. */
export type Trial = (hook: KnownHook, event: HookEvent, log: (line: string) => void) => Promise<HookReply>;

export type HookAdminOptions = {
  readonly hooksDir: string;
  readonly folder: HookFolder;
  readonly states: HookStates;
  readonly tryOut: Trial;
  /** A hook of this name was removed: another one shall not be taken for it. */
  readonly retire: (hook: string) => void;
  /** The types for editors; a copy is kept beside the hooks. */
  readonly typesFile: string;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
};

function hookRow(hook: KnownHook, enabled: boolean, off: Failure | undefined, notes: readonly string[]): HookRow {
  const { name, file, group, header } = hook;
  const wrong = off ?? hook.failure();
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
    group,
    enabled,
    notes: [...hook.notes, ...notes],
    ...(wrong ? { failure: failureToProto(wrong) } : {}),
  };
}

/** Several hooks that came together, as one row. */
function summed(group: string, rows: readonly HookRow[]): HookRow | undefined {
  const [first, ...others] = rows;
  if (!first || others.length === 0) return first;
  const union = (key: "points" | "granted") => [...new Set(rows.flatMap((row) => row[key] ?? []))];
  const names = `hooks: ${rows.map((row) => row.name).join(", ")}`;
  return {
    ...first,
    name: group,
    points: union("points"),
    granted: union("granted"),
    notes: [names, ...new Set(rows.flatMap((row) => row.notes ?? []))],
  };
}

function pointNamed(name: string, hook: KnownHook): Result<HookPoint> {
  const point = name === "" ? hook.header.points[0] : readPoint(name);
  if (point && hook.header.points.includes(point)) return ok(point);
  if (hook.header.points.length === 0)
    return fail("invalid", `hook "${hook.name}" listens at no point that is known here`);
  return fail("invalid", `hook "${hook.name}" does not listen at "${name}"`, {
    hint: `it listens at ${hook.header.points.join(", ")}`,
  });
}

function notFound(name: string, hooks: readonly KnownHook[]): Failed {
  const names = hooks.map((hook) => hook.name).join(", ");
  return fail("not_found", `there is no hook "${name}"`, {
    hint: names === "" ? "there are no hooks yet: claw hook add FILE" : `there are ${names}`,
  });
}

/** What is wrong with the folder as a whole. */
function folderFailure(hooks: readonly KnownHook[]): Failed | undefined {
  const failure = hooks.find(isFolderGuard)?.failure();
  return failure && { ok: false, failure };
}

/** The guard that stands for the folder is neither removed nor turned off: it goes when the folder is mended. */
function folderNamed(name: string, hooks: readonly KnownHook[]): Failed | undefined {
  return hooks.some((hook) => hook.name === name && isFolderGuard(hook)) ? folderFailure(hooks) : undefined;
}

/** One hook file too many would stop every tool call. */
function roomFor(hookFiles: number, hooks: readonly KnownHook[]): Result<void> {
  const broken = folderFailure(hooks);
  if (broken) return broken;
  const count = new Set(hooks.map((hook) => hook.file)).size + hookFiles;
  if (count <= HOOKS_MAX) return ok(undefined);
  return fail("exhausted", `the hooks folder would hold ${count} hooks, ${HOOKS_MAX} are the limit`, {
    hint: "remove some before: claw hook remove NAME",
  });
}

/** Lists, adds, removes, switches and tries out the hooks of a folder. */
export function hookAdmin({ hooksDir, folder, states, tryOut, retire, typesFile, log }: HookAdminOptions): HookAdmin {
  async function rowsOf(hooks: readonly KnownHook[]): Promise<readonly HookRow[]> {
    const looked = await states.look(hooks);
    return hooks.flatMap((hook, index) => {
      const state = looked[index];
      return state ? [hookRow(hook, state.enabled, state.failure, state.notes)] : [];
    });
  }

  /** A hook by its name, or all of a group by its. */
  async function named(name: string): Promise<Result<readonly KnownHook[]>> {
    const all = await folder.hooks();
    const one = all.filter((hook) => hook.name === name);
    const found = one.length > 0 ? one : all.filter((hook) => hook.group === name);
    return found.length > 0 ? ok(found) : notFound(name, all);
  }

  async function add(source: string): Promise<Result<HookRow>> {
    const planned = await planPlacing(source, hooksDir);
    if (!planned.ok) return planned;
    const places = placesOf(planned.value, hooksDir);
    const inPlace = places.includes(source) || planned.value.from === planned.value.to;
    const group = basename(places[0] ?? "", extname(places[0] ?? ""));
    if (!inPlace) {
      const hooks = await folder.hooks();
      if (hooks.some((hook) => hook.group === group) || places.some(fileStamp)) {
        return fail("conflict", `there is a hook "${group}" already`, {
          hint: `claw hook remove ${group}, or rename what you add`,
        });
      }
      const room = roomFor(planned.value.hookFiles, hooks);
      if (!room.ok) return room;
      const placed = await place(planned.value, hooksDir);
      if (!placed.ok) return placed;
    }
    const types = await placeTypes(typesFile, hooksDir);
    if (!types.ok) log(types.failure.message);
    const hooks = await folder.hooks();
    const row = summed(group, await rowsOf(hooks.filter((hook) => hook.group === group)));
    if (row) return ok(row);
    return folderFailure(hooks) ?? fail("invalid", `${source} is no hook`, { hint: "a hook has a @hook header" });
  }

  /** What is kept goes before the file: when it cannot be written, the hook is there for another try. */
  async function remove(name: string): Promise<Result<void>> {
    const whole = folderNamed(name, await folder.hooks());
    if (whole) return whole;
    // One that is not run can be what somebody wants to be rid of, and what is kept for it goes with its package.
    const hooks = folder.found();
    const target = placeNamed(name, hooks, hooksDir);
    if (target === undefined) {
      const part = hooks.find((hook) => hook.name === name);
      if (!part) return notFound(name, hooks);
      return fail("invalid", `"${name}" is one of several hooks of ${part.file}`, {
        hint: `claw hook remove ${part.group} removes all of them, claw hook disable ${name} turns this one off`,
      });
    }
    const leaving = hooks.filter((hook) => hook.file === target || hook.file.startsWith(`${target}/`));
    const forgotten = await states.forget(leaving);
    if (!forgotten.ok) return forgotten;
    try {
      await rm(target, { recursive: true });
      return ok(undefined);
    } catch (cause) {
      const message = `${target} could not be removed: what was kept for it is gone, and it is on`;
      return fail("unavailable", message, { cause, hint: "look at its folder's rights" });
    } finally {
      for (const hook of leaving) retire(hook.name);
    }
  }

  async function enable(name: string, enabled: boolean): Promise<Result<void>> {
    const hooks = await named(name);
    if (!hooks.ok) return hooks;
    const whole = folderNamed(name, hooks.value);
    if (whole) return whole;
    for (const hook of hooks.value) {
      const done = await states.switch(hook, enabled);
      if (!done.ok) return done;
    }
    return ok(undefined);
  }

  async function test(name: string, at: string, value: JsonValue): Promise<Result<HookTrial>> {
    const hooks = await named(name);
    const hook = hooks.ok ? hooks.value[0] : undefined;
    if (!hooks.ok) return hooks;
    if (!hook || hooks.value.length > 1) {
      return fail("invalid", `"${name}" has several hooks`, {
        hint: `name one of ${hooks.value.map((one) => one.name).join(", ")}`,
      });
    }
    const point = pointNamed(at, hook);
    if (!point.ok) return point;
    if (!isJsonObject(value))
      return fail("invalid", "a hook's value is an object", { hint: 'for instance {"tool":"shell","args":{}}' });
    const lines: string[] = [];
    const event: HookEvent = {
      at: point.value,
      sessionId: "trial",
      turnId: "trial",
      callId: point.value.startsWith("tool.") ? "trial" : "",
      workspace: hooksDir,
      value,
    };
    const { answer, because, ms } = await tryOut(hook, event, (line) => {
      if (lines.length < TRIAL_LINES_MAX) lines.push(line);
    });
    return ok({ answer, because, ms, log: lines });
  }

  return {
    async list() {
      const rows = await rowsOf(await folder.hooks());
      return [...rows.filter((row) => !row.failure), ...rows.filter((row) => row.failure)];
    },
    add,
    remove,
    enable,
    test,
  };
}
