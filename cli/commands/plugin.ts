import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import {
  GrantPluginResponseSchema,
  PluginAdminService,
  type PluginStatus,
  PluginStatusSchema,
  RevokePluginResponseSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { EXIT } from "../trouble.ts";
import { stateName } from "./daemon.ts";

/** A change may build or stop a plugin, which takes a while on a busy machine. */
const CHANGE_LIMIT_MS = 300_000;

const HEADINGS = ["NAME", "VERSION", "STATE", "BRINGS", "MAY", "RESTARTS"];

/** `claw plugin list` */
export function listPlugins(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(PluginAdminService.method.listPlugins, {});
    if (!listed.ok) return context.report(listed.trouble);
    const { plugins, folder } = listed.value;
    if (args.on("json")) {
      for (const one of plugins) printProto(screen, PluginStatusSchema, one);
      return EXIT.done;
    }
    if (plugins.length === 0) {
      screen.data("No plugins installed.\n");
      screen.data(`Plugin directory: ${folder}\n`);
      screen.note("claw plugin install DIR shows what one asks for, and adds it");
      return EXIT.done;
    }
    printTable(screen, HEADINGS, plugins.map(describeRow), "");
    for (const one of plugins) for (const line of describeWaiting(one)) screen.note(line);
    for (const { name, warnings } of plugins) {
      for (const warning of warnings) screen.note(screen.paintNote("yellow", `! ${escapeLine(`${name}: ${warning}`)}`));
    }
    return EXIT.done;
  });
}

function describeRow(one: PluginStatus): string[] {
  return [
    one.name,
    one.version,
    one.failure === undefined ? stateName(one.state) : `${stateName(one.state)}: ${one.failure.message}`,
    [...one.tools, ...one.offers].join(", "),
    [...one.granted, ...(one.trusted ? ["trusted without a sandbox"] : [])].join(" "),
    String(one.restarts),
  ];
}

/** What a person could decide about: permissions that are withheld, an upgrade that waits. */
function describeWaiting({ name, version, withheld, heldVersion, heldWants }: PluginStatus): string[] {
  const grant = `claw plugin grant ${escapeLine(name)}`;
  const lines: string[] = [];
  if (withheld.length > 0) {
    const what = withheld.map(escapeLine).join(" ");
    lines.push(`${escapeLine(name)}: withheld ${what}; ${grant} PERMISSION gives one back`);
  }
  if (heldVersion !== "") {
    lines.push(
      `${escapeLine(name)}: version ${escapeLine(heldVersion)} waits beside ${escapeLine(version)}; ${grant} takes it`,
    );
    for (const { permission, reason } of heldWants) lines.push(wantLine("+", permission, reason));
  }
  return lines;
}

/** A permission in a list of them: "+" is new, "=" as before, "-" no longer. */
export function wantLine(mark: string, permission: string, reason: string): string {
  return `  ${mark} ${escapeLine(permission)}${reason === "" ? "" : ` (${escapeLine(reason)})`}`;
}

/** `claw plugin grant NAME [PERMISSION...] [--trust]` */
export function grantPlugin(context: Context, args: Arguments): Promise<number> {
  const [name = "", ...permissions] = args.positionals;
  const change = { name, permissions, trust: args.on("trust") };
  return withDaemon(context, async (daemon) => {
    context.screen.spin("granting");
    const answer = await daemon.call(PluginAdminService.method.grantPlugin, change, { limitMs: CHANGE_LIMIT_MS });
    context.screen.rest();
    if (!answer.ok) return context.report(answer.trouble);
    const { granted, version } = answer.value;
    if (args.on("json")) printProto(context.screen, GrantPluginResponseSchema, answer.value);
    else context.screen.note(`plugin ${escapeLine(name)} ${escapeLine(version)} ${sayMay(granted)}`);
    return EXIT.done;
  });
}

/** `claw plugin revoke NAME [PERMISSION...] [--trust]` */
export function revokePlugin(context: Context, args: Arguments): Promise<number> {
  const [name = "", ...permissions] = args.positionals;
  const change = { name, permissions, trust: args.on("trust") };
  return withDaemon(context, async (daemon) => {
    const answer = await daemon.call(PluginAdminService.method.revokePlugin, change, { limitMs: CHANGE_LIMIT_MS });
    if (!answer.ok) return context.report(answer.trouble);
    if (args.on("json")) printProto(context.screen, RevokePluginResponseSchema, answer.value);
    else context.screen.note(`plugin ${escapeLine(name)} ${sayMay(answer.value.granted)}`);
    return EXIT.done;
  });
}

function sayMay(granted: readonly string[]): string {
  return granted.length === 0 ? "may touch nothing now" : `may touch now: ${granted.map(escapeLine).join(" ")}`;
}

/** `claw plugin remove NAME` */
export function removePlugin(context: Context, args: Arguments): Promise<number> {
  const name = nameOf(args);
  return withDaemon(context, async (daemon) => {
    const answer = await daemon.call(PluginAdminService.method.removePlugin, { name }, { limitMs: CHANGE_LIMIT_MS });
    if (!answer.ok) return context.report(answer.trouble);
    for (const note of answer.value.notes) context.screen.note(escapeLine(note));
    if (args.on("json")) printJson(context.screen, { removed: name, ...toNotes(answer.value.notes) });
    else context.screen.note(`removed plugin ${escapeLine(name)}`);
    return EXIT.done;
  });
}

function toNotes(notes: readonly string[]): { notes?: string[] } {
  return notes.length === 0 ? {} : { notes: [...notes] };
}

/** `claw plugin enable NAME` */
export function enablePlugin(context: Context, args: Arguments): Promise<number> {
  const change = { name: nameOf(args), enabled: true };
  return changePlugin(context, args, PluginAdminService.method.enablePlugin, change, "enabled");
}

/** `claw plugin disable NAME`, `claw plugin unload NAME` */
export function disablePlugin(context: Context, args: Arguments): Promise<number> {
  const change = { name: nameOf(args), enabled: false };
  return changePlugin(context, args, PluginAdminService.method.enablePlugin, change, "disabled");
}

/** `claw plugin reload NAME` */
export function reloadPlugin(context: Context, args: Arguments): Promise<number> {
  return changePlugin(context, args, PluginAdminService.method.reloadPlugin, { name: nameOf(args) }, "reloaded");
}

function changePlugin<I extends DescMessage, O extends DescMessage>(
  context: Context,
  args: Arguments,
  method: DescMethodUnary<I, O>,
  change: MessageInitShape<I>,
  done: string,
): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const answer = await daemon.call(method, change, { limitMs: CHANGE_LIMIT_MS });
    if (!answer.ok) return context.report(answer.trouble);
    if (args.on("json")) printJson(context.screen, { [done]: nameOf(args) });
    else context.screen.note(`${done} plugin ${escapeLine(nameOf(args))}`);
    return EXIT.done;
  });
}

/** `claw plugin logs NAME` */
export function showPluginLog(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const log = await daemon.call(PluginAdminService.method.readPluginLog, { name: nameOf(args) });
    if (!log.ok) return context.report(log.trouble);
    for (const line of log.value.lines) {
      if (args.on("json")) printJson(context.screen, { line });
      else context.screen.layout(`${context.screen.dataIsTerminal ? escapeControls(line) : line}\n`);
    }
    return EXIT.done;
  });
}

function nameOf(args: Arguments): string {
  return args.positionals[0] ?? "";
}
