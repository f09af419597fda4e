import { check } from "../permission/grant.ts";
import type { Grant, Permission } from "../permission/permission.ts";
import { type EnvView, mayReadVariable } from "./env-view.ts";

/** The daemon's variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

function names(permissions: readonly Permission[]): string[] {
  return permissions.flatMap((permission) => (permission.kind === "env" ? [permission.name ?? "*"] : []));
}

/** The part of the environment that a grant opens. */
export function viewEnvironment(grant: Grant, env: Environment): EnvView {
  const patterns = { allowed: names(grant.allow), denied: names(grant.deny) };
  const granted = Object.keys(env).filter(
    (name) => mayReadVariable(patterns, name) && check(grant, { kind: "env", name }).ok,
  );
  return { ...patterns, values: Object.fromEntries(granted.map((name) => [name, env[name] ?? ""])) };
}
