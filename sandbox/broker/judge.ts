import { type Grant, type Permission, printPermission } from "../permission/permission.ts";
import type { Asking } from "./asking.ts";
import { type Audit, type Decision, type Weight, weightOf } from "./audit.ts";
import type { BrokerContext } from "./capabilities.ts";
import type { LiveGrant, Standing } from "./live-grant.ts";
import { done, type Outcome, type Refused, refuse } from "./outcome.ts";

/** Something that a guest wants to touch. */
export type Wanted = {
  readonly permission: Permission;
  /** What the guest itself calls it; null for all of its kind. */
  readonly named: string | null;
  /** Where it lies now, as permissions: people are asked about the last of them, and a yes opens all of them. */
  ground(): Promise<readonly Permission[]>;
  /** Why nobody can grant it. */
  readonly never?: string | undefined;
};

/** A guest may touch what it named; where that leads is judged next. Nothing is written down yet. */
export type Admission = {
  /** What is granted for this act. */
  readonly grant: Grant;
  /** Writes the yes down; only then the act may be done. @param resolved what was really found */
  allow(resolved: string): Promise<Outcome<null>>;
  /** Writes a no down that came of where it leads. */
  deny(resolved: string, because: string): Promise<Refused>;
};

/** Decides what one guest may do, asks people where that is open, and writes every decision down. */
export type Judge = (context: BrokerContext, wanted: Wanted) => Promise<Outcome<Admission>>;

type Tools = {
  readonly mode: "hook" | "script";
  readonly mayAsk: boolean;
  readonly live: LiveGrant;
  readonly asking: Asking;
  readonly audit: Audit;
  readonly now: () => number;
};

type Settled = Pick<Decision, "by" | "because"> & {
  /** `forbidden`: no further grant would help. */
  readonly verdict: "allowed" | "refused" | "forbidden";
  /** What is open for this act beside what is granted anyway. */
  readonly more: readonly Permission[];
};

export function openJudge(tools: Tools): Judge {
  const { live, audit, now } = tools;
  return async (context, wanted) => {
    const startedMs = now();
    const settled = await settle(tools, context, wanted);
    const record = (allowed: boolean, resolved: string, because: string, weight: Weight) => {
      const permission = printPermission(wanted.permission);
      const decision = { permission, resolved, allowed, by: settled.by, because, ms: now() - startedMs };
      return audit.record(context, decision, weight);
    };
    const deny = async (resolved: string, because: string, refusal: Refused): Promise<Refused> => {
      await record(false, resolved, because, "look");
      return refusal;
    };
    if (settled.verdict !== "allowed") return deny("", settled.because, denial(tools.mode, wanted, settled.verdict));
    const { current } = live;
    return done({
      grant: { allow: [...current.allow, ...settled.more], deny: current.deny },
      async allow(resolved) {
        const weight = settled.by === "person" ? "act" : weightOf(wanted.permission);
        const written = await record(true, resolved, settled.because, weight);
        // What was not written down must not happen.
        return written.ok ? done(null) : refuse("Error", "it was not done, because it could not be recorded");
      },
      deny: (resolved, because) => deny(resolved, because, elsewhere(wanted)),
    });
  };
}

async function settle(tools: Tools, context: BrokerContext, wanted: Wanted): Promise<Settled> {
  const { live } = tools;
  if (wanted.never !== undefined) return { verdict: "forbidden", by: "rule", because: wanted.never, more: [] };
  const standing = live.standing(wanted.permission);
  if (standing.state !== "prompt") return decided(standing, []);
  const lent = live.takeLent(wanted.permission);
  if (lent) return { verdict: "allowed", by: "person", because: "yes, once", more: lent };
  if (!tools.mayAsk) return { verdict: "refused", by: "rule", because: "it is not granted", more: [] };
  return askFor(tools, context, wanted);
}

/** Asks about where it really lies, so that a person is not shown a link's name. */
async function askFor(tools: Tools, context: BrokerContext, wanted: Wanted): Promise<Settled> {
  const { live, asking } = tools;
  const places = await wanted.ground();
  const real = places.at(-1) ?? wanted.permission;
  const standing = live.standing(real);
  // What a rule grants must be granted as it was written, too; what a person said was said of the real place.
  if (standing.state === "denied" || (standing.state === "granted" && standing.by === "remembered")) {
    return decided(standing, places);
  }
  const word = await asking.ask(context, real.kind, printPermission(real));
  if (word.allowed && word.scope !== "once") live.widen(places);
  const { by, because } = word;
  return word.allowed
    ? { verdict: "allowed", by, because, more: places }
    : { verdict: "refused", by, because, more: [] };
}

function decided(standing: Exclude<Standing, { state: "prompt" }>, more: readonly Permission[]): Settled {
  const { state, by, because } = standing;
  if (state === "granted") return { verdict: "allowed", by, because, more };
  return { verdict: by === "rule" ? "forbidden" : "refused", by, because, more: [] };
}

/** A no names the flag or header that would have made it a yes; whether a person said it, or nobody, it does not tell. */
function denial(mode: Tools["mode"], wanted: Wanted, verdict: "refused" | "forbidden"): Refused {
  const { permission, named, never } = wanted;
  const { kind } = permission;
  const what = `Requires ${kind} access${named === null ? "" : ` to ${JSON.stringify(named)}`}`;
  if (never !== undefined) return refuse("NotCapable", `${what}, which is never granted: ${never}`);
  if (verdict === "forbidden") {
    const rule = mode === "hook" ? "the hook's @deny" : `the --deny-${kind} flag`;
    return refuse("NotCapable", `${what}, which ${rule} forbids`);
  }
  const grant = named === null ? kind : `${kind}=${named}`;
  const how =
    mode === "hook" ? `add "@allow ${grant}" to the hook's header` : `run again with the --allow-${grant} flag`;
  return refuse("NotCapable", `${what}, ${how}`);
}

/** The place that a name leads to is not the guest's to know. */
function elsewhere({ permission, named }: Wanted): Refused {
  const what = named === null ? "all" : `all that ${JSON.stringify(named)} leads to`;
  return refuse("NotCapable", `Requires ${permission.kind} access to ${what}, which goes beyond what is granted`);
}
