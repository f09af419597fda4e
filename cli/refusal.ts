import { fromBinary } from "@bufbuild/protobuf";
import { FailureCode, FailureSchema } from "../proto/gen/clawd/v1/failure_pb.ts";
import { type Failed, fail, type TroubleKind } from "./trouble.ts";

/** Connect's error codes that mean "no": the daemon heard the command and will not do it. All others are failures. */
const REFUSING_CODES = new Set([
  "invalid_argument",
  "not_found",
  "already_exists",
  "permission_denied",
  "unauthenticated",
  "failed_precondition",
  "aborted",
  "out_of_range",
  "unimplemented",
]);

const REFUSING_FAILURES = new Set<number>([
  FailureCode.INVALID,
  FailureCode.NOT_FOUND,
  FailureCode.CONFLICT,
  FailureCode.DENIED,
]);

type ErrorBody = {
  code?: unknown;
  message?: unknown;
  details?: readonly { type?: unknown; value?: unknown }[];
};

/** Reads a Connect error. The daemon's own `Failure` rides in the details and carries the hint. */
export function readRefusal(text: string, status: number | undefined): Failed {
  const body = parseBody(text);
  if (body === undefined) {
    return fail("failed", `the daemon answered with HTTP status ${status ?? "?"}`, "claw doctor looks for the cause");
  }
  for (const detail of Array.isArray(body.details) ? body.details : []) {
    if (detail.type !== FailureSchema.typeName || typeof detail.value !== "string") continue;
    const failure = fromBinary(FailureSchema, Buffer.from(detail.value, "base64"));
    return fail(REFUSING_FAILURES.has(failure.code) ? "refused" : "failed", failure.message, failure.hint);
  }
  const kind: TroubleKind = REFUSING_CODES.has(String(body.code)) ? "refused" : "failed";
  const message = typeof body.message === "string" && body.message !== "" ? body.message : String(body.code);
  return fail(kind, message);
}

function parseBody(text: string): ErrorBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? (body as ErrorBody) : undefined;
  } catch {
    return undefined;
  }
}
