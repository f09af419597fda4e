import type { PermissionAnswer, PermissionDescriptor, SysView } from "../guest/guest-protocol.ts";
import { type Permission, printPermission } from "../permission/permission.ts";
import { parseDescriptor } from "../permission/permission-descriptor.ts";
import { queryState } from "../permission/permission-state.ts";
import type { Asking } from "./asking.ts";
import type { Audit } from "./audit.ts";
import type { BrokerContext } from "./capabilities.ts";
import { type Environment, viewEnvironment, viewSystem } from "./environment.ts";
import { groundPermission } from "./ground-grant.ts";
import type { LiveGrant } from "./live-grant.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

export type PermissionDesk = {
  readonly live: LiveGrant;
  readonly asking: Asking;
  readonly audit: Audit;
  readonly context: BrokerContext;
  readonly mayAsk: boolean;
  readonly cwd: string;
  readonly searchPath: string;
  readonly env: Environment;
  readonly sysFacts: () => SysView;
  readonly now: () => number;
};

type Asked = { readonly permission: Permission | undefined };

/** `Deno.permissions.query`: how it stands. Nobody is asked. */
export async function queryPermission(
  desk: PermissionDesk,
  descriptor: PermissionDescriptor,
): Promise<Outcome<PermissionAnswer>> {
  const asked = readDescriptor(desk, descriptor);
  return asked.ok ? done(answer(desk, asked.value.permission)) : asked;
}

/** `Deno.permissions.request`: asks a person when it is open, and says what came of it. */
export async function requestPermission(
  desk: PermissionDesk,
  descriptor: PermissionDescriptor,
): Promise<Outcome<PermissionAnswer>> {
  const asked = readDescriptor(desk, descriptor);
  if (!asked.ok) return asked;
  const { permission } = asked.value;
  const now = answer(desk, permission);
  if (permission === undefined || now.state !== "prompt") return done(now);
  const allowed = await askPerson(desk, permission);
  return allowed.ok ? done({ ...answer(desk, permission), state: allowed.value ? "granted" : "denied" }) : allowed;
}

/** `Deno.permissions.revoke`: from now on it is to be asked for. */
export async function revokePermission(
  desk: PermissionDesk,
  descriptor: PermissionDescriptor,
): Promise<Outcome<PermissionAnswer>> {
  const asked = readDescriptor(desk, descriptor);
  if (!asked.ok) return asked;
  const { permission } = asked.value;
  if (permission) desk.live.revoke([...(await groundPermission(permission, desk.searchPath)), permission]);
  return done(answer(desk, permission));
}

function readDescriptor(desk: PermissionDesk, descriptor: PermissionDescriptor): Outcome<Asked> {
  const parsed = parseDescriptor(descriptor, desk.cwd);
  return parsed.ok ? done({ permission: parsed.value }) : refuse(parsed.name, parsed.message);
}

/** @param permission undefined for one that is never open */
function answer({ live, env, sysFacts }: PermissionDesk, permission: Permission | undefined): PermissionAnswer {
  const views = { env: viewEnvironment(live.current, env), sys: viewSystem(live.current, sysFacts()) };
  if (permission === undefined) return { state: "denied", partial: false, ...views };
  const { state, partial } = queryState(live.withLent, permission);
  const isNever = state === "prompt" && live.standing(permission).state === "denied";
  return { state: isNever ? "denied" : state, partial, ...views };
}

/** Asks, and records the answer before it counts. */
async function askPerson(desk: PermissionDesk, permission: Permission): Promise<Outcome<boolean>> {
  const { live, asking, audit, context, mayAsk, now } = desk;
  const startedMs = now();
  const places = await groundPermission(permission, desk.searchPath);
  const real = places.at(-1) ?? permission;
  const word = mayAsk
    ? await asking.ask(context, permission.kind, printPermission(real))
    : ({ allowed: false, scope: "once", by: "rule", because: "it is not granted" } as const);
  const { allowed, by, because } = word;
  const resolved = real === permission ? "" : printPermission(real);
  const decision = { permission: printPermission(permission), resolved, allowed, by, because, ms: now() - startedMs };
  const written = await audit.record(context, decision, allowed ? "act" : "look");
  if (!written.ok) return refuse("Error", "it was not granted, because that could not be recorded");
  // What is handed over as a value cannot be taken back after one use.
  const isHandedOver = permission.kind === "env" || permission.kind === "sys";
  if (allowed && (word.scope !== "once" || isHandedOver)) live.widen(places);
  else if (allowed) live.lend(places);
  return done(allowed);
}
