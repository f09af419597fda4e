import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  HookAdminService,
  type HookStatus,
  HookStatusSchema,
  TestHookResponseSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { formatMs } from "../transcript.ts";
import { EXIT, fail, ok, type Result, thrownText } from "../trouble.ts";

const NO_HOOKS = "there are no hooks; claw hook add FILE puts one into place";

/** `claw hook list` */
export function listHooks(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(HookAdminService.method.listHooks, {});
    if (!listed.ok) return context.report(listed.trouble);
    if (args.on("json")) {
      for (const one of listed.value.hooks) printProto(context.screen, HookStatusSchema, one);
      return EXIT.done;
    }
    const rows = listed.value.hooks.map((one) => [
      one.name,
      one.points.join(" "),
      String(one.priority),
      formatMs(one.timeoutMs),
      one.onError,
      one.granted.join(" "),
      stateOf(one),
    ]);
    printTable(context.screen, ["NAME", "AT", "PRIORITY", "TIMEOUT", "ON ERROR", "MAY", "STATE"], rows, NO_HOOKS);
    return EXIT.done;
  });
}

function stateOf({ enabled, failure, notes }: HookStatus): string {
  if (failure !== undefined) return enabled ? failure.message : `off: ${failure.message}`;
  return ["ok", ...notes].join("; ");
}

/** `claw hook add FILE` */
export async function addHook(context: Context, args: Arguments): Promise<number> {
  const file = resolve(context.folder, args.positionals[0] ?? "");
  return withDaemon(context, async (daemon) => {
    const added = await daemon.call(HookAdminService.method.addHook, { file });
    if (!added.ok) return context.report(added.trouble);
    const { hook } = added.value;
    if (hook === undefined) return context.report(fail("failed", "the daemon did not say what it added").trouble);
    if (args.on("json")) printProto(context.screen, HookStatusSchema, hook);
    else for (const line of describeHook(hook)) context.screen.note(line);
    return EXIT.done;
  });
}

function describeHook(hook: HookStatus): readonly string[] {
  const may = hook.granted.length === 0 ? "may touch nothing" : `may ${hook.granted.map(escapeLine).join(" ")}`;
  const facts = `at ${hook.points.map(escapeLine).join(" ")}, priority ${hook.priority}, ${formatMs(hook.timeoutMs)}, on error ${hook.onError}, ${may}`;
  const notes = hook.failure === undefined ? hook.notes : [hook.failure.message, ...hook.notes];
  return [`hook ${escapeLine(hook.name)} is in place: ${facts}`, ...notes.map((note) => `  ${escapeLine(note)}`)];
}

function switchHook(context: Context, args: Arguments, enabled: boolean): Promise<number> {
  const name = args.positionals[0] ?? "";
  return withDaemon(context, async (daemon) => {
    const switched = await daemon.call(HookAdminService.method.enableHook, { name, enabled });
    if (!switched.ok) return context.report(switched.trouble);
    if (args.on("json")) printJson(context.screen, { name, enabled });
    else context.screen.note(`hook ${escapeLine(name)} is ${enabled ? "on" : "off"}`);
    return EXIT.done;
  });
}

/** `claw hook enable NAME` */
export function enableHook(context: Context, args: Arguments): Promise<number> {
  return switchHook(context, args, true);
}

/** `claw hook disable NAME` */
export function disableHook(context: Context, args: Arguments): Promise<number> {
  return switchHook(context, args, false);
}

/** `claw hook remove NAME` */
export function removeHook(context: Context, args: Arguments): Promise<number> {
  const name = args.positionals[0] ?? "";
  return withDaemon(context, async (daemon) => {
    const removed = await daemon.call(HookAdminService.method.removeHook, { name });
    if (!removed.ok) return context.report(removed.trouble);
    if (args.on("json")) printJson(context.screen, { removed: name });
    else context.screen.note(`removed hook ${escapeLine(name)}`);
    return EXIT.done;
  });
}

/** `claw hook test NAME`: its verdict on stdout; what it printed on stderr. */
export async function testHook(context: Context, args: Arguments): Promise<number> {
  const value = await readValue(context, args.text("value"));
  if (!value.ok) return context.report(value.trouble);
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const request = {
      name: args.positionals[0] ?? "",
      point: args.text("point") ?? "",
      ...(value.value === undefined ? {} : { value: fromJson(ValueSchema, value.value) }),
    };
    const tested = await daemon.call(HookAdminService.method.testHook, request);
    if (!tested.ok) return context.report(tested.trouble);
    if (args.on("json")) {
      printProto(screen, TestHookResponseSchema, tested.value);
      return EXIT.done;
    }
    for (const line of tested.value.log) screen.note(screen.paintNote("dim", `  ${escapeControls(line)}`));
    const because = tested.value.because === "" ? "" : `: ${tested.value.because}`;
    screen.data(`${tested.value.verdict}${because}\n`);
    if (tested.value.value !== undefined) screen.data(`${JSON.stringify(toJson(ValueSchema, tested.value.value))}\n`);
    screen.note(screen.paintNote("dim", formatMs(tested.value.ms)));
    return EXIT.done;
  });
}

/** JSON as written, or "@FILE" for JSON in a file. */
async function readValue(context: Context, written: string | undefined): Promise<Result<JsonValue | undefined>> {
  if (written === undefined) return ok(undefined);
  try {
    const text = written.startsWith("@") ? await readFile(resolve(context.folder, written.slice(1)), "utf8") : written;
    return ok(JSON.parse(text) as JsonValue);
  } catch (cause) {
    return fail(
      "usage",
      `--value is no JSON: ${thrownText(cause)}`,
      `write e.g. --value '{"tool":"shell","args":{"command":"ls"}}'`,
    );
  }
}
