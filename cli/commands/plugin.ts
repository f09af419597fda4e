import { resolve } from "node:path";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import {
  type InstallPluginResponse,
  InstallPluginResponseSchema,
  PluginAdminService,
  PluginStatusSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { isInterrupt, readKey } from "../key.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { EXIT, fail } from "../trouble.ts";
import { stateName } from "./daemon.ts";

/** A change may build or stop a plugin, which takes a while on a busy machine. */
const CHANGE_LIMIT_MS = 300_000;

const NO_PLUGINS = "there are no plugins; claw plugin install DIR shows what one asks for, and adds it";

/** `claw plugin list` */
export function listPlugins(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(PluginAdminService.method.listPlugins, {});
    if (!listed.ok) return context.report(listed.trouble);
    if (args.on("json")) {
      for (const one of listed.value.plugins) printProto(context.screen, PluginStatusSchema, one);
      return EXIT.done;
    }
    const rows = listed.value.plugins.map((one) => [
      one.name,
      one.version,
      one.failure === undefined ? stateName(one.state) : `${stateName(one.state)}: ${one.failure.message}`,
      one.tools.join(" "),
      [...one.granted, ...(one.trusted ? ["trusted without a sandbox"] : [])].join(" "),
      String(one.restarts),
    ]);
    printTable(context.screen, ["NAME", "VERSION", "STATE", "TOOLS", "GRANTED", "RESTARTS"], rows, NO_PLUGINS);
    return EXIT.done;
  });
}

/** `claw plugin install DIR`: looks, shows what the plugin asks for, and installs it when a person agrees. */
export function installPlugin(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const folder = resolve(context.folder, args.positionals[0] ?? "");
  const trust = args.on("trust");
  return withDaemon(context, async (daemon) => {
    const install = PluginAdminService.method.installPlugin;
    const looked = await daemon.call(install, { folder, grant: false, trust });
    if (!looked.ok) return context.report(looked.trouble);
    for (const line of describeOffer(looked.value, trust)) screen.note(line);
    if (!args.on("yes")) {
      if (!context.attended) {
        const hint = "read the list above; claw plugin install DIR --yes grants it";
        return context.report(fail("usage", "nobody is at a terminal to grant what the plugin asks for", hint).trouble);
      }
      const show = (): void => screen.ask("grant this and install? [y] yes · [n] no ");
      const key = await readKey(context.stdin, { wanted: ["y", "n"], show }, new AbortController().signal);
      screen.unask();
      if (isInterrupt(key)) return EXIT.interrupted;
      if (key !== "y") {
        screen.note("not installed");
        return EXIT.failed;
      }
    }
    screen.spin("installing");
    const installed = await daemon.call(install, { folder, grant: true, trust }, { limitMs: CHANGE_LIMIT_MS });
    screen.rest();
    if (!installed.ok) return context.report(installed.trouble);
    if (args.on("json")) printProto(screen, InstallPluginResponseSchema, installed.value);
    else screen.note(`installed ${escapeLine(installed.value.name)} ${escapeLine(installed.value.version)}`);
    return EXIT.done;
  });
}

function describeOffer(offer: InstallPluginResponse, trust: boolean): string[] {
  const lines = [`${escapeLine(offer.name)} ${escapeLine(offer.version)}: ${escapeLine(offer.description)}`];
  lines.push(`  brings: ${offer.tools.map(escapeLine).join(", ") || "no tools"}`);
  if (offer.wants.length === 0) lines.push("  asks for: nothing");
  for (const want of offer.wants) {
    lines.push(
      `  asks for: ${escapeLine(want.permission)}${want.reason === "" ? "" : ` (${escapeLine(want.reason)})`}`,
    );
  }
  if (trust) lines.push("  --trust: where this machine has no sandbox it will run with everything that you may do");
  return lines;
}

/** `claw plugin grant NAME [--trust]` */
export function grantPlugin(context: Context, args: Arguments): Promise<number> {
  const change = { name: nameOf(args), trust: args.on("trust") };
  return changePlugin(context, args, PluginAdminService.method.grantPlugin, change, "granted");
}

/** `claw plugin remove NAME` */
export function removePlugin(context: Context, args: Arguments): Promise<number> {
  return changePlugin(context, args, PluginAdminService.method.removePlugin, { name: nameOf(args) }, "removed");
}

/** `claw plugin enable NAME` */
export function enablePlugin(context: Context, args: Arguments): Promise<number> {
  const change = { name: nameOf(args), enabled: true };
  return changePlugin(context, args, PluginAdminService.method.enablePlugin, change, "enabled");
}

/** `claw plugin disable NAME` */
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
