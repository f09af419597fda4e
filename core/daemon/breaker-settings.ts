import { BREAKER_LIMITS, type BreakerLimits } from "../../plugin-host/life/restart-policy.ts";
import { checkNotZero, numberOf, type Section } from "./section.ts";

const CRASHES_ALLOWED = "plugins.crashes_allowed";
const CRASH_WINDOW_SECONDS = "plugins.crash_window_seconds";

/** The values of [plugins] itself: after how many crashes within which time a plugin rests. */
export const BREAKER_SECTION: Section<BreakerLimits> = {
  keys: { [CRASHES_ALLOWED]: "number", [CRASH_WINDOW_SECONDS]: "number" },
  check: (values) => checkNotZero(values, [CRASHES_ALLOWED, CRASH_WINDOW_SECONDS]),
  read: (values) => ({
    crashesAllowed: numberOf(values, CRASHES_ALLOWED, BREAKER_LIMITS.crashesAllowed),
    windowMs: numberOf(values, CRASH_WINDOW_SECONDS, BREAKER_LIMITS.windowMs / 1000) * 1000,
  }),
};
