/** The codes that a failure may have. */
export type ToolErrorCode = "invalid" | "not_found" | "conflict" | "denied" | "timed_out" | "exhausted" | "unavailable";

/** A failure that says of what kind it is, and, in `hint`, what to do next. Every other error counts as "invalid". */
export class ToolError extends Error {
  readonly code: ToolErrorCode;
  readonly hint: string;
  constructor(code: ToolErrorCode, message: string, hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Whatever was thrown, as a failure. */
export function failureOf(cause: unknown): { code: ToolErrorCode; message: string; hint: string } {
  if (cause instanceof ToolError) return { code: cause.code, message: cause.message, hint: cause.hint };
  return { code: "invalid", message: cause instanceof Error ? cause.message : String(cause), hint: "" };
}
