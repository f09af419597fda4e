import { checkRulePattern, type Policy, type Verdict } from "../domain/policy.ts";
import { DEFAULT_LIMITS, type TurnLimits } from "../session/turn/turn-context.ts";
import { checkNotZero, numberOf, type Section, stringsOf } from "./section.ts";

/** How long turns may go on, and what their calls need. */
export type TurnSettings = { readonly limits: TurnLimits; readonly policy: Policy };

const VERDICTS: readonly Verdict[] = ["allow", "ask", "deny"];

/** [limits] and [policy]. */
export const TURN_SECTION: Section<TurnSettings> = {
  keys: {
    "limits.attended_steps": "number",
    "limits.unattended_steps": "number",
    "limits.approval_seconds": "number",
    "limits.output_chars": "number",
    "policy.allow": "strings",
    "policy.ask": "strings",
    "policy.deny": "strings",
  },
  check(values) {
    for (const verdict of VERDICTS) {
      for (const pattern of stringsOf(values, `policy.${verdict}`)) {
        const checked = checkRulePattern(pattern);
        if (!checked.ok) return { key: `policy.${verdict}`, what: `holds a wrong pattern: ${checked.failure.message}` };
      }
    }
    return checkNotZero(values, [
      "limits.attended_steps",
      "limits.unattended_steps",
      "limits.approval_seconds",
      "limits.output_chars",
    ]);
  },
  read: (values) => ({
    limits: {
      attendedSteps: numberOf(values, "limits.attended_steps", DEFAULT_LIMITS.attendedSteps),
      unattendedSteps: numberOf(values, "limits.unattended_steps", DEFAULT_LIMITS.unattendedSteps),
      approvalMs: numberOf(values, "limits.approval_seconds", DEFAULT_LIMITS.approvalMs / 1000) * 1000,
      outputChars: numberOf(values, "limits.output_chars", DEFAULT_LIMITS.outputChars),
    },
    policy: VERDICTS.flatMap((verdict) =>
      stringsOf(values, `policy.${verdict}`).map((pattern) => ({ pattern, verdict })),
    ),
  }),
};
