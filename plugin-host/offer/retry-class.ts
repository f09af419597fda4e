import type { Failure, FailureCode } from "../../core/domain/failure.ts";

type RetryClass = { readonly category: string; readonly retryable: boolean };

const CLASSES: Readonly<Record<FailureCode, RetryClass>> = {
  invalid: { category: "invalid_input", retryable: false },
  not_found: { category: "not_found", retryable: false },
  conflict: { category: "server_error", retryable: true },
  denied: { category: "policy_blocked", retryable: false },
  cancelled: { category: "transient", retryable: true },
  timed_out: { category: "transient", retryable: true },
  exhausted: { category: "rate_limited", retryable: true },
  unavailable: { category: "transient", retryable: true },
  lost: { category: "transient", retryable: true },
  corrupt: { category: "server_error", retryable: true },
};

/** The class of a failed call of a server of the Model Context Protocol, where what failed did not say a finer one itself. */
export function withRetryClass(failure: Failure): Failure {
  return failure.category === undefined ? { ...failure, ...CLASSES[failure.code] } : failure;
}
