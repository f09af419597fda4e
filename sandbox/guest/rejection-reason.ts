/** What a promise was rejected with, after the host has told of it. Runs inside the isolate. */

import { callError } from "./deno-errors.ts";
import type { GuestError, RejectionReason } from "./guest-protocol.ts";
import { lastStackRead } from "./stack-trace.ts";

const { apply } = Reflect;
const { defineProperty } = Object;
const { startsWith } = String.prototype;
const BigIntOf = BigInt;
const NumberOf = Number;

/**
 * The engine read the error's stack when it told of it, mostly as the first to do so: then it is the very error. Else one
 * with the same class, message and stack stands for it.
 */
function errorOf({ name, message, stack }: GuestError): unknown {
  const last = lastStackRead() as { stack?: unknown } | undefined;
  const known = last?.stack;
  if (stack !== "" && typeof known === "string" && apply(startsWith, known, [stack])) return last;
  const error = callError({ name, message });
  defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
  return error;
}

export function rejectionReason(reason: RejectionReason): unknown {
  switch (reason.type) {
    case "error":
      return errorOf(reason.error);
    case "object":
      return {};
    case "null":
      return null;
    case "undefined":
      return undefined;
    case "boolean":
      return reason.text === "true";
    case "number":
      return NumberOf(reason.text);
    case "bigint":
      return BigIntOf(reason.text);
    case "string":
      return reason.text;
  }
}
