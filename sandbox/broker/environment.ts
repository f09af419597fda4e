import { type EnvView, mayReadVariable } from "../guest/env-view.ts";
import type { SysView } from "../guest/guest-protocol.ts";
import { check } from "../permission/grant.ts";
import { type Grant, type Permission, printPermission } from "../permission/permission.ts";

/** The daemon's variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

function names(permissions: readonly Permission[]): string[] {
  return permissions.flatMap((permission) => (permission.kind === "env" ? [permission.name ?? "*"] : []));
}

/** The part of the environment that a grant opens. */
export function viewEnvironment(grant: Grant, env: Environment): EnvView {
  const patterns = { allowed: names(grant.allow), denied: names(grant.deny) };
  const granted = Object.keys(env).filter(
    (name) => env[name] !== undefined && mayReadVariable(patterns, name) && check(grant, { kind: "env", name }).ok,
  );
  return { ...patterns, values: Object.fromEntries(granted.map((name) => [name, env[name] ?? ""])) };
}

/** The facts of the machine that a grant opens. */
export function viewSystem(grant: Grant, facts: SysView): SysView {
  return Object.fromEntries(Object.entries(facts).filter(([api]) => check(grant, { kind: "sys", api }).ok));
}

/** What a guest is handed at its start, as one decision; undefined when that is nothing. */
export function describeHandout(
  grant: Grant,
  env: EnvView,
  sys: SysView,
): { readonly permission: string; readonly resolved: string } | undefined {
  const rules = grant.allow.filter(({ kind }) => kind === "env" || kind === "sys");
  const handed = [...Object.keys(env.values), ...Object.keys(sys)];
  if (rules.length === 0) return undefined;
  return { permission: rules.map(printPermission).join(" "), resolved: handed.join(" ") };
}
