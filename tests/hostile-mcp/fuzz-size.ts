import { timesOf } from "../kit/thoroughness.ts";

/** Messages in each direction and over each transport. */
export const MESSAGES =
  process.env.CLAWD_FUZZ_MESSAGES === undefined
    ? timesOf("messages that nobody should say", { whole: 100_000, share: 2_000 })
    : Number(process.env.CLAWD_FUZZ_MESSAGES);
export const SEED = Number(process.env.CLAWD_FUZZ_SEED ?? 1);
/** A whole fuzz beside other suites, milliseconds. */
export const FUZZ_LIMIT_MS = 1_800_000;
export const MIB = 1024 * 1024;
