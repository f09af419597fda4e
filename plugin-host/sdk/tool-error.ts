/** The codes that a failure may have. */
export type ToolErrorCode = "invalid" | "not_found" | "conflict" | "denied" | "timed_out" | "exhausted" | "unavailable";

/** What programs may want to know of a failure beyond its code: a word, and whether the same may succeed later. */
export type FinerWords = { readonly category?: string; readonly retryable?: boolean };

/** What is told of a failure. */
export type ToldFailure = Required<FinerWords> & {
  readonly code: ToolErrorCode;
  readonly message: string;
  readonly hint: string;
};

/** A failure that says of what kind it is, and, in `hint`, what to do next. Every other error counts as "invalid". */
export class ToolError extends Error {
  readonly code: ToolErrorCode;
  readonly hint: string;
  /** The code in finer words, for programs; empty for none. */
  readonly category: string;
  /** Whether the same may succeed later; says something only beside a category. */
  readonly retryable: boolean;
  constructor(code: ToolErrorCode, message: string, hint = "", { category = "", retryable = false }: FinerWords = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.category = category;
    this.retryable = retryable;
  }
}

/** Whatever was thrown, as a failure. */
export function failureOf(cause: unknown): ToldFailure {
  if (cause instanceof ToolError) {
    const { code, message, hint, category, retryable } = cause;
    return { code, message, hint, category, retryable };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return { code: "invalid", message, hint: "", category: "", retryable: false };
}
