import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type FailureSchema,
  FailureCode as ProtoCode,
  type Failure as ProtoFailure,
} from "../../proto/gen/clawd/v1/failure_pb.ts";

/** The closed set of ways a thing can go wrong; the same set as `clawd.v1.FailureCode`. */
export type FailureCode =
  | "invalid"
  | "not_found"
  | "conflict"
  | "denied"
  | "cancelled"
  | "timed_out"
  | "exhausted"
  | "unavailable"
  | "lost"
  | "corrupt";

/** What happened and to what (`message`, one sentence), and the next move (`hint`). */
export type Failure = {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
  /** The code in finer words, for programs: those of `clawd.v1.Failure`. */
  readonly category?: string;
  /** True when the same may well succeed later; says something only beside a category. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
};

export type Failed = { readonly ok: false; readonly failure: Failure };

/** An expected outcome as a value. Broken promises of our own code throw instead. */
export type Result<T> = { readonly ok: true; readonly value: T } | Failed;

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function fail(code: FailureCode, message: string, more: { hint?: string; cause?: unknown } = {}): Failed {
  return { ok: false, failure: { code, message, ...more } };
}

/** Ends a switch over a union: a new member that nobody handled is a type error here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

const PROTO_CODES = {
  invalid: ProtoCode.INVALID,
  not_found: ProtoCode.NOT_FOUND,
  conflict: ProtoCode.CONFLICT,
  denied: ProtoCode.DENIED,
  cancelled: ProtoCode.CANCELLED,
  timed_out: ProtoCode.TIMED_OUT,
  exhausted: ProtoCode.EXHAUSTED,
  unavailable: ProtoCode.UNAVAILABLE,
  lost: ProtoCode.LOST,
  corrupt: ProtoCode.CORRUPT,
} as const satisfies Record<FailureCode, ProtoCode>;

const CODES = new Map<ProtoCode, FailureCode>(
  Object.entries(PROTO_CODES).map(([code, proto]) => [proto, code as FailureCode]),
);

export function failureToProto(failure: Failure): MessageInitShape<typeof FailureSchema> {
  const { code, message, hint = "", category = "", retryable = false } = failure;
  return { code: PROTO_CODES[code], message, hint, category, retryable };
}

/** A code that this build does not know becomes `unavailable`: the sender is newer. */
export function failureFromProto(failure: ProtoFailure): Failure {
  const code = CODES.get(failure.code) ?? "unavailable";
  const { message, hint, category, retryable } = failure;
  return { code, message, ...(hint === "" ? {} : { hint }), ...(category === "" ? {} : { category, retryable }) };
}
