import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { FailureCode } from "../../proto/gen/clawd/v1/failure_pb.ts";
import type { EscapeTrial } from "../../sandbox/os/escape-trial.ts";
import type { Landlock } from "../../sandbox/os/launcher.ts";
import type { DaemonStatus, DoctorCheck, HookRow } from "../domain/admin.ts";
import type { Failure } from "../domain/failure.ts";

/** What the checks look at, gathered by the daemon. */
export type Findings = {
  readonly status: DaemonStatus;
  readonly hooks: readonly HookRow[];
  readonly pluginProblems: readonly Failure[];
  readonly trials: readonly EscapeTrial[];
  readonly landlock: Landlock;
};

const OLDEST_NODE_MAJOR = 24;

/** One row a check, the most important first. */
export function diagnose({ status, hooks, pluginProblems, trials, landlock }: Findings): readonly DoctorCheck[] {
  // What a person turned off is as it should be.
  const wrong = hooks.filter(({ enabled, failure }) => enabled === true || failure?.code !== FailureCode.DENIED);
  const brokenHooks = wrong.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  return [
    checkSandbox(status),
    checkTrials(status.sandbox.level, trials),
    checkLandlock(landlock),
    checkNode(status.nodeVersion),
    checkHome(status.home),
    checkProvider(status.provider),
    checkProblems("config", "config.toml has no faults", status.problems),
    checkProblems("hooks", `${hooks.length} hooks, all sound`, brokenHooks),
    checkProblems("plugins", "every plugin can be used", pluginProblems),
  ];
}

function checkSandbox({ sandbox }: DaemonStatus): DoctorCheck {
  const ok = sandbox.level !== "none";
  const fix = ok ? "" : "until then plugins run only when you trust them: claw plugin grant NAME --trust";
  return { name: "sandbox", ok, found: ok ? sandbox.detail : `none: ${sandbox.detail}`, fix };
}

/** The walls are not taken at their word: children like those of strangers' code have just tried to get over them. */
function checkTrials(level: string, trials: readonly EscapeTrial[]): DoctorCheck {
  const name = "escape";
  const escaped = trials.flatMap(({ prisoner, attempts }) =>
    attempts.filter((attempt) => attempt.escaped).map(({ what }) => `${prisoner} could ${what}`),
  );
  const tried = trials.reduce((sum, { attempts }) => sum + attempts.length, 0);
  if (escaped.length === 0) {
    const what = trials[0]?.attempts.map((attempt) => attempt.what).join(", ") ?? "";
    return {
      name,
      ok: true,
      found: `${tried} attempts to get out of the sandbox failed: to ${what}, and more`,
      fix: "",
    };
  }
  const fix = level === "none" ? "get a sandbox: see above" : "do not run strangers' code here, and report this";
  return { name, ok: false, found: escaped.join("; "), fix };
}

/** Nothing to mend where it is missing: it is told so that nobody takes it for a wall that is there. */
function checkLandlock(landlock: Landlock): DoctorCheck {
  const found = "abi" in landlock ? `on (ABI ${landlock.abi})` : `not used: ${landlock.missing}`;
  return { name: "landlock", ok: true, found, fix: "" };
}

function checkNode(version: string): DoctorCheck {
  const major = Number(version.replace(/^v/, "").split(".", 1)[0]);
  const ok = major >= OLDEST_NODE_MAJOR;
  return {
    name: "node",
    ok,
    found: version,
    fix: ok ? "" : `run clawd on Node ${OLDEST_NODE_MAJOR} or newer: npm ci brings it`,
  };
}

function checkHome(dir: string): DoctorCheck {
  const open = (statSync(dir).mode & 0o077) !== 0;
  const fix = open ? `chmod 700 ${dir}` : "";
  return {
    name: "home",
    ok: !open,
    found: open ? `${dir} can be entered by others` : `${dir}, for its owner alone`,
    fix,
  };
}

function checkProvider(provider: string): DoctorCheck {
  const rehearsal = provider.startsWith("rehearsal");
  const found =
    "no key: the rehearsal provider answers until ANTHROPIC_API_KEY or [providers.anthropic] api_key is set";
  return { name: "provider", ok: true, found: rehearsal ? found : provider, fix: "" };
}

function checkProblems(
  name: string,
  sound: string,
  problems: readonly { readonly message?: string; readonly hint?: string }[],
): DoctorCheck {
  if (problems.length === 0) return { name, ok: true, found: sound, fix: "" };
  return {
    name,
    ok: false,
    found: problems.map(({ message = "broken" }) => message).join("; "),
    fix: problems
      .map(({ hint = "" }) => hint)
      .filter((hint) => hint !== "")
      .join("; "),
  };
}

/** Which provider variables the daemon has with another value than the client, or not at all. */
export function staleVariables(env: NodeJS.ProcessEnv, digests: ReadonlyMap<string, string>): readonly string[] {
  const stale: string[] = [];
  for (const [name, digest] of digests) {
    const own = env[name];
    if (own === undefined || createHash("sha256").update(own).digest("hex") !== digest) stale.push(name);
  }
  return stale;
}
