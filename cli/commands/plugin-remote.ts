import { EnrolPluginResponseSchema, PluginAdminService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { printJson, printProto } from "../proto-json.ts";
import { EXIT, fail, ok, type Result } from "../trouble.ts";

const TIME_UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DEFAULT_LIFE = "10m";

/** `claw plugin enrol NAME`: the token alone is data, so that it can be handed on as it is. */
export async function enrolPlugin(context: Context, args: Arguments): Promise<number> {
  const life = readLife(args.text("ttl") ?? DEFAULT_LIFE);
  if (!life.ok) return context.report(life.trouble);
  const [name = ""] = args.positionals;
  const address = args.text("at") ?? "";
  const request = { name, address, lifeMs: life.value, services: args.on("services") };
  return withDaemon(context, async (daemon) => {
    const { screen } = context;
    const answer = await daemon.call(PluginAdminService.method.enrolPlugin, request);
    if (!answer.ok) return context.report(answer.trouble);
    if (args.on("json")) {
      printProto(screen, EnrolPluginResponseSchema, answer.value);
      return EXIT.done;
    }
    screen.data(`${answer.value.token}\n`);
    const listen = address === "" ? "" : ` --listen 0.0.0.0:${address.slice(address.lastIndexOf(":") + 1)}`;
    screen.note(`it works once, until ${new Date(answer.value.untilMs).toISOString()}; on the plugin's machine:`);
    screen.note(`  claw plugin agent FOLDER --token TOKEN${listen}`);
    screen.note(`then look at what it asks for, and grant it: claw plugin install remote:${escapeLine(name)}`);
    return EXIT.done;
  });
}

/** `claw plugin unenrol NAME` */
export function unenrolPlugin(context: Context, args: Arguments): Promise<number> {
  const [name = ""] = args.positionals;
  return withDaemon(context, async (daemon) => {
    const answer = await daemon.call(PluginAdminService.method.unenrolPlugin, { name });
    if (!answer.ok) return context.report(answer.trouble);
    if (args.on("json")) printJson(context.screen, { unenrolled: name });
    else context.screen.note(`plugin ${escapeLine(name)} cannot connect any more`);
    return EXIT.done;
  });
}

function readLife(text: string): Result<number> {
  const [, digits, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = TIME_UNITS_MS[unit];
  if (digits !== undefined && unitMs !== undefined) return ok(Number(digits) * unitMs);
  return fail("usage", `--ttl must be a time, not ${JSON.stringify(text)}`, "for example 10m, 24h or 7d");
}
