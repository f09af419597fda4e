import { resolve } from "node:path";
import {
  type InstallPluginResponse,
  InstallPluginResponseSchema,
  PluginAdminService,
  PluginState,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeLine } from "../escape.ts";
import { isInterrupt, readKey } from "../key.ts";
import { printProto } from "../proto-json.ts";
import { EXIT, fail } from "../trouble.ts";
import { wantLine } from "./plugin.ts";

/** An install may build and stop a plugin, which takes a while on a busy machine. */
const CHANGE_LIMIT_MS = 300_000;

/**
 * `claw plugin install DIR|ARCHIVE|EXECUTABLE`: looks, shows what the plugin asks for, and installs it when a person
 * agrees. With nobody there, an upgrade that asks for nothing more is installed and another one is held.
 */
export function installPlugin(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const looked = await look(context, args, daemon);
    return typeof looked === "number" ? looked : decide(context, args, daemon, looked);
  });
}

/** `claw plugin load PATH`: the same, for one that does not run yet; one that was unloaded runs again. */
export function loadPlugin(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const looked = await look(context, args, daemon);
    if (typeof looked === "number") return looked;
    const { name, replaces } = looked;
    if (replaces === "") return decide(context, args, daemon, looked);
    const listed = await daemon.call(PluginAdminService.method.listPlugins, {});
    if (!listed.ok) return context.report(listed.trouble);
    const isOff = listed.value.plugins.some((one) => one.name === name && one.state === PluginState.DISABLED);
    if (!isOff) {
      const hint = "claw plugin install PATH puts another version in its place";
      return context.report(fail("refused", `Plugin '${name}' already loaded`, hint).trouble);
    }
    const exit = await decide(context, args, daemon, looked);
    if (exit !== EXIT.done) return exit;
    const enabled = await daemon.call(PluginAdminService.method.enablePlugin, { name, enabled: true });
    return enabled.ok ? EXIT.done : context.report(enabled.trouble);
  });
}

/** Shows the plugin; a number is the exit code when that is all. */
async function look(context: Context, args: Arguments, daemon: Connection): Promise<InstallPluginResponse | number> {
  const { screen } = context;
  const request = { folder: pathOf(context, args), trust: args.on("trust") };
  screen.spin("looking");
  const looked = await daemon.call(PluginAdminService.method.installPlugin, request, { limitMs: CHANGE_LIMIT_MS });
  screen.rest();
  if (!looked.ok) return context.report(looked.trouble);
  for (const line of describeOffer(looked.value, args.on("trust"))) screen.note(line);
  return looked.value;
}

async function decide(
  context: Context,
  args: Arguments,
  daemon: Connection,
  offer: InstallPluginResponse,
): Promise<number> {
  if (args.on("yes")) return install(context, args, daemon, offer, true);
  if (context.attended) {
    const { screen } = context;
    const show = (): void => screen.ask("grant this and install? [y] yes · [n] no ");
    const key = await readKey(context.stdin, { wanted: ["y", "n"], show }, new AbortController().signal);
    screen.unask();
    if (isInterrupt(key)) return EXIT.interrupted;
    if (key === "y") return install(context, args, daemon, offer, true);
    screen.note("not installed");
    return EXIT.failed;
  }
  if (offer.replaces !== "") return install(context, args, daemon, offer, false);
  const hint = "read the list above; the same command with --yes grants it";
  return context.report(fail("usage", "nobody is at a terminal to grant what the plugin asks for", hint).trouble);
}

/** What was shown is what is installed: the daemon refuses another manifest. */
async function install(
  context: Context,
  args: Arguments,
  daemon: Connection,
  { name, manifestSha256 }: InstallPluginResponse,
  grant: boolean,
): Promise<number> {
  const { screen } = context;
  const request = { folder: pathOf(context, args), grant, upgrade: !grant, trust: args.on("trust"), manifestSha256 };
  screen.spin("installing");
  const done = await daemon.call(PluginAdminService.method.installPlugin, request, { limitMs: CHANGE_LIMIT_MS });
  screen.rest();
  if (!done.ok) return context.report(done.trouble);
  const { version, replaces, held } = done.value;
  if (args.on("json")) printProto(screen, InstallPluginResponseSchema, done.value);
  if (held) {
    const message = `${name} ${version} asks for more than ${replaces} and waits; ${replaces} runs on`;
    return context.report(fail("refused", message, `claw plugin grant ${name} takes it`).trouble);
  }
  if (!args.on("json")) {
    screen.note(
      `installed ${escapeLine(name)} ${escapeLine(version)}${replaces === "" ? "" : ` in the place of ${escapeLine(replaces)}`}`,
    );
  }
  return EXIT.done;
}

function describeOffer(offer: InstallPluginResponse, trust: boolean): string[] {
  const upgrade = offer.replaces === "" ? "" : ` (${escapeLine(offer.replaces)} is installed)`;
  const lines = [`${escapeLine(offer.name)} ${escapeLine(offer.version)}${upgrade}: ${escapeLine(offer.description)}`];
  if (offer.author !== "") lines.push(`  made by, as it says: ${escapeLine(offer.author)}`);
  lines.push(`  brings: ${[...offer.tools, ...offer.offers].map(escapeLine).join(", ") || "nothing"}`);
  if (offer.wants.length === 0) lines.push("  asks for: nothing");
  else lines.push("  asks for:");
  for (const { permission, reason, grantedBefore } of offer.wants) {
    const mark = offer.replaces === "" ? "·" : grantedBefore ? "=" : "+";
    lines.push(`  ${wantLine(mark, permission, reason)}`);
  }
  for (const permission of offer.noLonger) lines.push(`  ${wantLine("-", permission, "no longer")}`);
  for (const note of offer.notes) lines.push(`  ! ${escapeLine(note)}`);
  if (trust) lines.push("  --trust: where this machine has no sandbox it will run with everything that you may do");
  return lines;
}

function pathOf(context: Context, args: Arguments): string {
  const [path = ""] = args.positionals;
  // A plugin of another machine, which is no path here.
  return path.startsWith("remote:") ? path : resolve(context.folder, path);
}
