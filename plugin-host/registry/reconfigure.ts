import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Incarnation } from "../life/incarnation.ts";
import type { ReadSettings } from "../manifest/settings.ts";
import type { LivePlugin } from "./live-plugin.ts";

/** A plugin answers to new settings within this. */
const CONFIGURE_LIMIT_MS = 10_000;

/** The settings that each running process works with. */
export type SettingsInForce = WeakMap<Incarnation, JsonObject>;

/**
 * Gives new settings to a process that runs on, when nothing but the settings changed and the plugin can take them.
 * False when it has to be started anew. A failure leaves the old settings in force.
 */
export async function reconfigure(
  before: LivePlugin,
  next: LivePlugin,
  read: ReadSettings,
  inForce: SettingsInForce,
): Promise<Result<boolean>> {
  const state = before.supervisor.state();
  if (state.is !== "ready" || !isSameButForSettings(before, next)) return ok(false);
  const settings = await read(next.manifest);
  if (!settings.ok) return settings;
  const { incarnation } = state;
  if (JSON.stringify(inForce.get(incarnation)) === JSON.stringify(settings.value)) return ok(false);
  const { name } = next.manifest;
  try {
    const taken = await incarnation.link.configure(settings.value, AbortSignal.timeout(CONFIGURE_LIMIT_MS));
    if (taken === "unserved" || taken === "restart") return ok(false);
    if (taken === "in force") {
      inForce.set(incarnation, settings.value);
      return ok(true);
    }
    return fail("invalid", `plugin "${name}" does not take its settings: ${taken.problem.slice(0, 500)}`, {
      hint: `mend [plugins.${name}] of config.toml, then: claw plugin reload ${name}`,
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `plugin "${name}" did not take its settings: ${why}`, {
      hint: `see what it wrote with: claw plugin logs ${name}`,
      cause,
    });
  }
}

function isSameButForSettings({ grant: before }: LivePlugin, { grant: next }: LivePlugin): boolean {
  return (
    before.manifestSha256 === next.manifestSha256 &&
    before.filesSha256 === next.filesSha256 &&
    before.trusted === next.trusted &&
    before.allow.join("\n") === next.allow.join("\n")
  );
}
