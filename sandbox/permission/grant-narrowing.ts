import { covers, opens } from "./grant.ts";
import type { Grant, Permission } from "./permission.ts";

type NetPermission = Extract<Permission, { kind: "net" }>;
type MemoryPermission = Extract<Permission, { kind: "memory" }>;

/**
 * What all grants allow alike, and everything that any of them denies: the grant of code on which several have a say.
 * Without any grant nothing is allowed.
 */
export function narrow(...grants: readonly Grant[]): Grant {
  const [first, ...rest] = grants;
  const allow = rest.reduce<readonly Permission[]>(
    (left, { allow: right }) =>
      withoutCovered(
        left.flatMap((a) => right.flatMap((b) => meet(a, b) ?? [])),
        opens,
      ),
    first?.allow ?? [],
  );
  return {
    allow,
    deny: withoutCovered(
      grants.flatMap(({ deny }) => deny),
      covers,
    ),
  };
}

/**
 * What `narrower` would allow beyond `wider`; empty when it stays within. A denied part counts unless `narrower` denies
 * it as well. A permission that only several rules of `wider` together allow counts as more.
 */
export function asksForMore(wider: Grant, narrower: Grant): readonly Permission[] {
  return narrower.allow.filter((wanted) => {
    if (!wider.allow.some((rule) => opens(rule, wanted))) return true;
    return wider.deny.some((rule) => {
      const denied = intersect(rule, wanted);
      return denied !== undefined && !narrower.deny.some((own) => covers(own, denied));
    });
  });
}

/** What two allowing rules allow alike. */
function meet(a: Permission, b: Permission): Permission | undefined {
  const common = intersect(a, b);
  return common && opens(a, common) && opens(b, common) ? common : undefined;
}

/** What two permissions both mean, as one permission; undefined when they have nothing in common. */
export function intersect(a: Permission, b: Permission): Permission | undefined {
  if (covers(a, b)) return b;
  if (covers(b, a)) return a;
  if (a.kind === "net" && b.kind === "net") return intersectNet(a, b);
  if (a.kind === "memory" && b.kind === "memory") return intersectMemory(a, b);
  return undefined;
}

/** Of two permissions of which each is narrower in one respect: a host of one, a port of the other. */
function intersectNet(a: NetPermission, b: NetPermission): Permission | undefined {
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return undefined;
  const [hostsOfA, hostsOfB] = [allPorts(a), allPorts(b)];
  const narrower = covers(hostsOfA, hostsOfB) ? hostsOfB : covers(hostsOfB, hostsOfA) ? hostsOfA : undefined;
  const port = a.port ?? b.port;
  return narrower && port !== undefined ? { ...narrower, port } : narrower;
}

function allPorts({ host }: NetPermission): NetPermission {
  return host === undefined ? { kind: "net" } : { kind: "net", host };
}

/** The same for an access of one and a namespace of the other. */
function intersectMemory(a: MemoryPermission, b: MemoryPermission): Permission | undefined {
  const [accessOfA, accessOfB] = [allNamespaces(a), allNamespaces(b)];
  const narrower = covers(accessOfA, accessOfB) ? accessOfB : covers(accessOfB, accessOfA) ? accessOfA : undefined;
  if (!narrower) return undefined;
  const namespaceOf = (one: MemoryPermission): MemoryPermission =>
    one.namespace === undefined ? narrower : { ...narrower, namespace: one.namespace };
  if (covers(namespaceOf(a), namespaceOf(b))) return namespaceOf(b);
  return covers(namespaceOf(b), namespaceOf(a)) ? namespaceOf(a) : undefined;
}

function allNamespaces({ access }: MemoryPermission): MemoryPermission {
  return access === undefined ? { kind: "memory" } : { kind: "memory", access };
}

/** Leaves out what another one of the list says as well. */
function withoutCovered(
  permissions: readonly Permission[],
  includes: (rule: Permission, other: Permission) => boolean,
): readonly Permission[] {
  const kept: Permission[] = [];
  for (const one of permissions) {
    if (kept.some((other) => includes(other, one))) continue;
    kept.splice(0, kept.length, ...kept.filter((other) => !includes(one, other)), one);
  }
  return kept;
}
