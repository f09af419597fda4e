import { Code, ConnectError } from "@connectrpc/connect";
import { FailureSchema } from "../../proto/gen/clawd/v1/failure_pb.ts";
import { type Failure, type FailureCode, failureToProto, type Result } from "../domain/failure.ts";

const CODES: Readonly<Record<FailureCode, Code>> = {
  invalid: Code.InvalidArgument,
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  denied: Code.PermissionDenied,
  cancelled: Code.Canceled,
  timed_out: Code.DeadlineExceeded,
  exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  lost: Code.Aborted,
  corrupt: Code.DataLoss,
};

/** A failure as every Connect and gRPC client understands it, with the `clawd.v1.Failure` as its detail. */
export function connectFailure(failure: Failure): ConnectError {
  const detail = { desc: FailureSchema, value: failureToProto(failure) };
  return new ConnectError(failure.message, CODES[failure.code], undefined, [detail], failure.cause);
}

/** The value of a result, or its failure thrown as the wire's error. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw connectFailure(result.failure);
}
