import { check } from "../permission/grant.ts";
import { type Grant, type Permission, printPermission } from "../permission/permission.ts";
import { queryState, withAllow, withoutAllow } from "../permission/permission-state.ts";
import { type GroundedGrant, programsOf } from "./ground-grant.ts";

/** A person's answer that outlives the guest. */
export type LastingAnswer = { readonly permission: Permission; readonly allowed: boolean };

/** How a permission stands: decided, and by what; or to be asked for. */
export type Standing =
  | { readonly state: "granted" | "denied"; readonly by: "rule" | "remembered"; readonly because: string }
  | { readonly state: "prompt" };

/** A grant that people's answers widen and its holder's own revocations narrow. */
export type LiveGrant = {
  /** All that is granted and denied now. */
  readonly current: Grant;
  /** The same with what was lent for an act to come. */
  readonly withLent: Grant;
  readonly programs: ReadonlyMap<string, string>;
  standing(permission: Permission): Standing;
  widen(permissions: readonly Permission[]): void;
  /** Allows the next act that needs it, and no other. */
  lend(permissions: readonly Permission[]): void;
  /** Takes what was lent for such an act; undefined when nothing was. */
  takeLent(permission: Permission): readonly Permission[] | undefined;
  revoke(permissions: readonly Permission[]): void;
};

/** What one guest may have lent at a time. */
const LENT_MAX = 64;

export function liveGrant(given: GroundedGrant, lasting: readonly LastingAnswer[]): LiveGrant {
  const permissionsOf = (allowed: boolean) =>
    lasting.filter((answer) => answer.allowed === allowed).map((answer) => answer.permission);
  const never = permissionsOf(false);
  const { deny } = given;
  let rules: Grant = { allow: given.allow, deny };
  let answers: Grant = { allow: permissionsOf(true), deny };
  let lent: (readonly Permission[])[] = [];
  const programs = new Map([...programsOf(answers.allow), ...given.programs]);

  return {
    get current() {
      return { allow: [...rules.allow, ...answers.allow], deny };
    },
    get withLent() {
      return { allow: [...rules.allow, ...answers.allow, ...lent.flat()], deny };
    },
    programs,
    standing(permission) {
      if (queryState({ allow: [], deny }, permission).state === "denied") {
        return { state: "denied", by: "rule", because: "it is denied" };
      }
      const rule = deciding(rules, permission);
      if (rule) return { state: "granted", by: "rule", because: printPermission(rule) };
      const answer = deciding(answers, permission);
      if (answer) return { state: "granted", by: "remembered", because: `a yes to ${printPermission(answer)}` };
      const refusal = deciding({ allow: never, deny: [] }, permission);
      return refusal
        ? { state: "denied", by: "remembered", because: `a no to ${printPermission(refusal)}` }
        : { state: "prompt" };
    },
    widen(permissions) {
      for (const permission of permissions) answers = withAllow(answers, permission);
      for (const [path, real] of programsOf(permissions)) programs.set(path, real);
    },
    lend(permissions) {
      lent = [...lent, permissions].slice(-LENT_MAX);
      for (const [path, real] of programsOf(permissions)) programs.set(path, real);
    },
    takeLent(permission) {
      const found = lent.find((each) => check({ allow: each, deny }, permission).ok);
      lent = lent.filter((each) => each !== found);
      return found;
    },
    revoke(permissions) {
      for (const permission of permissions) {
        rules = withoutAllow(rules, permission);
        answers = withoutAllow(answers, permission);
        lent = lent.filter((each) => withoutAllow({ allow: each, deny: [] }, permission).allow.length === each.length);
      }
    },
  };
}

/** The rule that opens a permission. */
function deciding(grant: Grant, permission: Permission): Permission | undefined {
  return grant.allow.find((rule) => check({ allow: [rule], deny: grant.deny }, permission).ok);
}
