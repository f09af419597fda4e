import { join } from "node:path";
import type { HookRow } from "../core/domain/admin.ts";
import { type Failure, failureToProto } from "../core/domain/failure.ts";
import { isFired } from "../core/domain/hook.ts";
import { MANIFEST_FILE } from "./manifest/manifest.ts";
import { comparePlaces, type PluginListener } from "./offer/plugin-hooks.ts";
import type { RowParts } from "./plugin-rows.ts";
import type { Entry } from "./registry/entry.ts";
import { failureOf } from "./registry/start-hindrances.ts";

type HookRowParts = Pick<RowParts, "launcher" | "registry">;

/** The hooks of plugins as people see them, in the order of running; those of plugins that are turned off too. */
export function hookRows(parts: HookRowParts): readonly HookRow[] {
  return parts.registry
    .all()
    .flatMap((entry) => (entry.live.ok ? entry.live.value.hooks : entry.guards).map((hook) => ({ entry, hook })))
    .sort((left, right) => comparePlaces(left.hook, right.hook))
    .map(({ entry, hook }) => hookRow(entry, hook, parts));
}

function hookRow({ folder, live, name }: Entry, hook: PluginListener, parts: HookRowParts): HookRow {
  const { at, priority, timeoutMs, onError, tools } = hook;
  const enabled = !live.ok || live.value.grant.enabled;
  const failure = live.ok ? (enabled ? failureOf(live.value, parts.launcher) : turnedOff(name)) : live.failure;
  return {
    name: hook.name,
    points: [at],
    ...{ priority, timeoutMs, onError, enabled },
    granted: live.ok ? [...live.value.grant.allow] : [],
    file: join(folder, MANIFEST_FILE),
    group: hook.name,
    notes: [
      ...(tools.length === 0 ? [] : [`only calls of ${tools.join(", ")}`]),
      ...(isFired(at) ? [] : [`nothing fires ${at} yet: it waits there until something does`]),
    ],
    ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
  };
}

function turnedOff(name: string): Failure {
  return {
    code: "denied",
    message: `plugin "${name}" is turned off by a person`,
    hint: `turn it on: claw plugin enable ${name}`,
  };
}
