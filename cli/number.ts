import { fail, ok, type Result } from "./trouble.ts";

const COUNT_MAX = 2 ** 32 - 1;

/** A whole number from 0 that fits the wire's `uint32`. */
export function readCount(flag: string, written: string): Result<number> {
  const value = /^\d+$/.test(written) ? Number(written) : Number.NaN;
  return value <= COUNT_MAX ? ok(value) : fail("usage", `${flag} takes a whole number from 0, not "${written}"`);
}
