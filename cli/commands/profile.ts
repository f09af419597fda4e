import {
  ProfileService,
  type ProfileVersion,
  ProfileVersionSchema,
  ShowProfileResponseSchema,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { formatTime } from "../clock-text.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { readCount } from "../number.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { EXIT } from "../trouble.ts";

const KEYS = ["who", "style", "focus", "interests", "misc"] as const;
/** Columns that the lines of a value go in. */
const VALUE_INDENT = 11;
const NOTHING = "nothing was learned yet";
const HOW_ON = "  → enabled = true under [profile] in config.toml turns learning on";

/** `claw profile show`: what was learned of the person. */
export function showProfile(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const shown = await daemon.call(ProfileService.method.showProfile, {});
    if (!shown.ok) return context.report(shown.trouble);
    if (args.on("json")) {
      printProto(screen, ShowProfileResponseSchema, shown.value);
      return EXIT.done;
    }
    const { enabled, version, waiting } = shown.value;
    if (version === undefined) screen.note(NOTHING);
    else {
      for (const key of KEYS) {
        const value = version.profile?.[key] ?? "";
        if (value !== "")
          screen.layout(screen.wrapData(`${key.padEnd(VALUE_INDENT)}${escapeLine(value)}\n`, VALUE_INDENT));
      }
      const { number, learnedAtMs, messagesProcessed, model } = version;
      screen.note(
        `version ${number}, learned ${formatTime(learnedAtMs)} of ${messagesProcessed} messages by ${escapeLine(model)}; ${waiting} wait`,
      );
    }
    if (!enabled) {
      screen.note("learning is off, and no model reads this");
      screen.note(HOW_ON);
    }
    return EXIT.done;
  });
}

/** `claw profile history`: every version, newest first. */
export async function listProfileVersions(context: Context, args: Arguments): Promise<number> {
  const limit = readCount("--limit", args.text("limit") ?? "0");
  if (!limit.ok) return context.report(limit.trouble);
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(ProfileService.method.listProfileVersions, { limit: limit.value });
    if (!listed.ok) return context.report(listed.trouble);
    const { versions } = listed.value;
    if (args.on("json")) {
      for (const version of versions) printProto(context.screen, ProfileVersionSchema, version);
      return EXIT.done;
    }
    const columns = ["VERSION", "LEARNED", "MESSAGES", "CHARS", "BY", "PROFILE"];
    printTable(context.screen, columns, versions.map(rowOf), NOTHING);
    return EXIT.done;
  });
}

function rowOf({ number, learnedAtMs, messagesProcessed, chars, model, profile }: ProfileVersion): readonly string[] {
  const text = KEYS.flatMap((key) => (profile?.[key] ? [`${key}: ${profile[key]}`] : [])).join("; ");
  return [String(number), formatTime(learnedAtMs), String(messagesProcessed), String(chars), model, text];
}

/** `claw profile delete`: every version at once. */
export function deleteProfile(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const deleted = await daemon.call(ProfileService.method.deleteProfile, {});
    if (!deleted.ok) return context.report(deleted.trouble);
    const { versions } = deleted.value;
    if (args.on("json")) printJson(screen, { versions });
    else
      screen.note(
        versions === 0 ? NOTHING : `deleted the profile, ${versions === 1 ? "1 version" : `${versions} versions`}`,
      );
    return EXIT.done;
  });
}
